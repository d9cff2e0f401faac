package input

import (
	"bufio"
	"bytes"
	"fmt"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// EncodingOf returns the encoding with a name. UTF-8 is nil; an empty name means UTF-8.
func EncodingOf(name string) (encoding.Encoding, error) {
	if name == "" {
		return nil, nil //nolint:nilnil // UTF-8 needs no decoder
	}
	found, err := htmlindex.Get(name)
	switch {
	case err != nil || found == encoding.Replacement:
		return nil, fmt.Errorf("unknown encoding %q: it must be a name of https://encoding.spec.whatwg.org, such as windows-1252, latin1, utf-16le or shift_jis", name)
	case found == unicode.UTF8:
		return nil, nil //nolint:nilnil // its decoder would replace what is not UTF-8, and move offsets
	}
	return found, nil
}

// decode returns content in UTF-8, and whether that took a conversion. If encoded is nil, a
// byte order mark tells UTF-16, which Excel and Windows PowerShell write; bytes that are
// not UTF-8 stay as they are.
func decode(in *bufio.Reader, encoded encoding.Encoding) (*bufio.Reader, bool) {
	if encoded == nil {
		wide := begins(in, "\xff\xfe") && !begins(in, "\xff\xfe\x00\x00") || begins(in, "\xfe\xff") // not UTF-32
		if !wide {
			return in, false
		}
		encoded = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	}
	return bufio.NewReaderSize(transform.NewReader(in, unicode.BOMOverride(encoded.NewDecoder())), 256<<10), true
}

// undecodable reports whether a row has bytes that are not text in the encoding of the
// input. A decoder replaces such bytes by U+FFFD, so the row has that character. UTF-16
// with a byte order mark is an exception, since its texts may have that character
// themselves.
func (s *source) undecodable(row []byte) bool {
	return !utf8.Valid(row) || s.encoded != nil && bytes.Contains(row, replacement)
}

var replacement = []byte("\uFFFD")
