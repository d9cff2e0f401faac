package input

import (
	"bufio"
	"cmp"
	"io"
)

// lineReader reads lines of a limited length in constant memory.
type lineReader struct {
	in     *bufio.Reader
	limit  int   // bytes of a line without its line break
	number int64 // number of the latest line
	offset int64 // bytes read
	buffer []byte
	// breaks is the last byte of the file's first line break: \n, or \r in files of the old
	// Mac OS. In the latter, \n and \r\n end lines, too. In other files, \r is a part of
	// the line.
	breaks byte
}

// next returns the next line without its line break, valid until the next call. tooLong
// reports a line over the limit, which is not returned.
func (l *lineReader) next() (line []byte, tooLong bool, err error) {
	l.buffer = l.buffer[:0]
	l.number++
	for begun, ended := false, false; !ended; begun = true {
		var part []byte
		if part, ended, err = l.part(); err != nil {
			if err == io.EOF && begun {
				break
			}
			return nil, false, err
		}
		if tooLong = tooLong || len(l.buffer)+len(part) > l.limit; !tooLong {
			l.buffer = append(l.buffer, part...)
		}
	}
	if tooLong {
		l.buffer = l.buffer[:0]
	}
	return l.buffer, tooLong, nil
}

// part reads bytes of a line, valid until the next call, and its line break, if the line
// ends there.
func (l *lineReader) part() (part []byte, ended bool, err error) {
	if _, err := l.in.Peek(1); err != nil {
		return nil, false, err
	}
	there, _ := l.in.Peek(l.in.Buffered())
	end, length := len(there), len(there)
	for i, b := range there {
		if b == '\r' && i+1 == len(there) {
			if i > 0 {
				end, length = i, i // the next bytes, which tell, may come late
				break
			}
			there, _ = l.in.Peek(2)
		}
		switch {
		case b == '\n':
			end, length, ended = i, i+1, true
			l.breaks = cmp.Or(l.breaks, '\n')
		case b != '\r':
		case i+1 == len(there): // of the file
			end, length, ended = i, i+1, true
		case there[i+1] == '\n':
			end, length, ended = i, i+2, true
			l.breaks = cmp.Or(l.breaks, '\n')
		case l.breaks != '\n':
			end, length, ended = i, i+1, true
			l.breaks = '\r'
		}
		if ended {
			break
		}
	}
	_, _ = l.in.Discard(length) // cannot fail after Peek
	l.offset += int64(length)
	return there[:end], ended, nil
}
