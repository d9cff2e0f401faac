package listen_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toxscreen/toxscreen/internal/listen"
)

// A server that was killed leaves its socket behind, where the next one must be able to
// listen. Nothing else is ever removed.
func TestOnlyTheSocketOfADeadServerIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "it.sock")
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false) // as if killed
	dead.Close()
	l, err := listen.On(t.Context(), "unix:"+path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := listen.On(t.Context(), "unix:"+path); err == nil || !strings.Contains(err.Error(), "another server answers") {
		t.Errorf("a second server: %v", err)
	}
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatalf("the first one can no longer be reached: %v", err)
	}
	c.Close()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	for name, place := range map[string]func() error{
		"a file":             func() error { return os.WriteFile(path, []byte("precious"), 0o600) },
		"a folder":           func() error { return os.Mkdir(path, 0o700) },
		"a link to a socket": func() error { return os.Symlink(path+".other", path) },
	} {
		if err := place(); err != nil {
			t.Fatal(err)
		}
		if _, err := listen.On(t.Context(), "unix:"+path); err == nil || !strings.Contains(err.Error(), "not a socket") {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Remove(path); err != nil {
			t.Errorf("%s was removed: %v", name, err)
		}
	}
}
