package input

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// compression is the compression of a text input, empty for none.
type compression string

const (
	withGzip compression = "gzip"
	withZstd compression = "zstd"
)

// compressions maps the endings of file names to compressions.
var compressions = map[string]compression{".gz": withGzip, ".zst": withZstd}

func compressionOf(path string) compression { return compressions[strings.ToLower(filepath.Ext(path))] }

// zstdWindow is the highest memory for unpacking zstd, in bytes. It is also the default
// limit of the zstd command.
const zstdWindow = 128 << 20

// content returns the unpacked content of a text input, in constant memory. The first bytes
// tell the compression if the name of the input does not.
func content(from io.Reader, named compression) (in *bufio.Reader, packed compression, err error) {
	raw := &remembering{from: from}
	in = bufio.NewReaderSize(raw, 256<<10)
	if packed = named; packed == "" {
		switch {
		case begins(in, "\x1f\x8b"):
			packed = withGzip
		case begins(in, "\x28\xb5\x2f\xfd"):
			packed = withZstd
		default:
			return in, "", nil
		}
	}
	u := &unpacker{raw: raw, packed: packed}
	if _, err := in.Peek(1); err != nil {
		return nil, packed, u.explain(err)
	}
	if packed == withGzip {
		u.from, err = gzip.NewReader(in)
	} else {
		u.from, err = zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
	}
	if err != nil {
		return nil, packed, u.explain(err)
	}
	return bufio.NewReaderSize(u, 256<<10), packed, nil
}

// begins reports whether an input begins with some bytes. It waits for another byte
// only if all bytes before it are the same.
func begins(in *bufio.Reader, with string) bool {
	for i := range len(with) {
		if start, err := in.Peek(i + 1); err != nil || start[i] != with[i] {
			return false
		}
	}
	return true
}

// remembering is a reader that records its error.
type remembering struct {
	from io.Reader
	err  error // other than io.EOF
}

func (r *remembering) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if err != io.EOF {
		r.err = err
	}
	return n, err
}

// unpacker unpacks compressed data. Its errors say what is wrong with the data.
type unpacker struct {
	from   io.Reader
	raw    *remembering
	packed compression
}

func (u *unpacker) Read(p []byte) (int, error) {
	n, err := u.from.Read(p)
	if err != nil && err != io.EOF {
		err = u.explain(err)
	}
	return n, err
}

func (u *unpacker) explain(err error) error {
	switch {
	case u.raw.err != nil:
		return u.raw.err // the data could not be read
	case err == io.EOF, errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("it ends inside its data, which is compressed with %s: it is not complete; copy it again", u.packed)
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return fmt.Errorf("unpacking it needs more than %d MiB of memory; unpack it with `zstd -d --long=31`", zstdWindow>>20)
	}
	return fmt.Errorf("it cannot be unpacked with %s: %w; copy it again, or rename it if it is not compressed", u.packed, err)
}
