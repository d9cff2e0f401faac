package files

import (
	"context"
	"io"
	"os"
)

// Interruptible returns a reader of r, such as a terminal or a pipe, whose reads return
// the error of ctx when ctx ends, even while r waits for data. The goroutine that reads
// r then remains until that read returns or the process ends. A regular file is returned
// unchanged, because its reads do not wait.
func Interruptible(ctx context.Context, r io.Reader) io.Reader {
	if f, ok := r.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return r
		}
	}
	i := &interruptible{ctx: ctx, filled: make(chan chunk), empty: make(chan []byte, 1)}
	i.empty <- make([]byte, 64<<10)
	go i.pump(r)
	return i
}

type interruptible struct {
	ctx    context.Context
	filled chan chunk
	empty  chan []byte
	rest   []byte // unread part of the current chunk
	buffer []byte // memory of rest
	err    error
}

type chunk struct {
	data []byte
	err  error
}

func (i *interruptible) pump(r io.Reader) {
	for {
		select {
		case buffer := <-i.empty:
			n, err := r.Read(buffer)
			select {
			case i.filled <- chunk{buffer[:n], err}:
			case <-i.ctx.Done():
				return
			}
			if err != nil {
				return
			}
		case <-i.ctx.Done():
			return
		}
	}
}

// Read implements [io.Reader].
func (i *interruptible) Read(p []byte) (int, error) {
	for len(i.rest) == 0 {
		if i.buffer != nil {
			i.empty <- i.buffer[:cap(i.buffer)]
			i.buffer = nil
		}
		if i.err != nil {
			return 0, i.err
		}
		select {
		case c := <-i.filled:
			i.buffer, i.rest, i.err = c.data, c.data, c.err
		case <-i.ctx.Done():
			return 0, i.ctx.Err()
		}
	}
	n := copy(p, i.rest)
	i.rest = i.rest[n:]
	return n, nil
}
