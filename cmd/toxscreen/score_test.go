package main

import (
	"bytes"
	"context"
	"io"
	"testing"
)

// An interrupted score says so, in place of the error of a context.
func TestInterruptedScoreSaysSo(t *testing.T) {
	configure(t)
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	waiting, writer := io.Pipe()
	defer writer.Close()
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"score", "one", "two"}, "toxscreen: interrupted; 0 of 2 texts are scored\n"},
		{[]string{"score", "-"}, "toxscreen: interrupted while standard input was read\n"},
	} {
		var out, said bytes.Buffer
		code := run(interrupted, test.args, stdio{waiting, &out, &said})
		if code != exitFailed || said.String() != test.want || out.Len() > 0 {
			t.Errorf("%q: exit code %d, said %q, printed %q, want %q", test.args, code, &said, &out, test.want)
		}
	}
}
