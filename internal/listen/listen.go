// Package listen listens on the addresses of a server:
//
//	l, err := listen.On(ctx, "unix:/run/toxscreen.sock")
package listen

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/toxscreen/toxscreen/internal/files"
)

// socketPrefix is before the path of a Unix socket in an address.
const socketPrefix = "unix:"

// socketMode lets the socket's owner and group connect.
const socketMode = 0o660

// maxSocketPath is the longest path of a socket, in bytes, that all systems have
// room for.
const maxSocketPath = 103

// Parse checks an address, which is HOST:PORT or unix:PATH, and returns it.
func Parse(text string) (string, error) {
	if path, ok := strings.CutPrefix(text, socketPrefix); ok {
		if !filepath.IsAbs(path) || len(path) > maxSocketPath {
			return "", fmt.Errorf("%q is not an address: the path of a socket must be absolute and have at most %d bytes, like unix:/run/toxscreen.sock", text, maxSocketPath)
		}
		return text, nil
	}
	if _, port, err := net.SplitHostPort(text); err != nil || port == "" {
		return "", fmt.Errorf("%q is not an address: it must be like 127.0.0.1:8080 or unix:/run/toxscreen.sock", text)
	}
	return text, nil
}

// On listens on an address.
func On(ctx context.Context, address string) (l net.Listener, err error) {
	if path, ok := strings.CutPrefix(address, socketPrefix); ok {
		l, err = listenSocket(ctx, path)
	} else {
		l, err = new(net.ListenConfig).Listen(ctx, "tcp", address)
	}
	if err != nil {
		return nil, fmt.Errorf("failed to listen on %s: %w", address, err)
	}
	return l, nil
}

// IsSocket reports whether an address is a Unix socket.
func IsSocket(address string) bool { return strings.HasPrefix(address, socketPrefix) }

// listenSocket listens on a Unix socket, which is removed when the listener closes.
// The socket of a server that has ended without that is replaced.
func listenSocket(ctx context.Context, path string) (net.Listener, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "unix", path)
	if errors.Is(err, syscall.EADDRINUSE) {
		if err = removeStale(ctx, path); err == nil {
			l, err = config.Listen(ctx, "unix", path)
		}
	}
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, socketMode); err != nil {
		return nil, errors.Join(files.Cause(err), l.Close())
	}
	return l, nil
}

// removeStale removes a socket on which nobody listens, and nothing else.
func removeStale(ctx context.Context, path string) error {
	found, err := os.Lstat(path)
	switch {
	case err != nil:
		return files.Cause(err)
	case found.Mode().Type() != fs.ModeSocket:
		return errors.New("there is a file with this name, which is not a socket")
	}
	c, err := new(net.Dialer).DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		return errors.Join(errors.New("another server answers on this socket"), c.Close())
	case !errors.Is(err, syscall.ECONNREFUSED):
		return err
	}
	return files.Cause(os.Remove(path))
}

// Address returns the address of a listener as clients need it.
func Address(scheme string, l net.Listener) string {
	if l.Addr().Network() == "unix" {
		return socketPrefix + l.Addr().String()
	}
	return scheme + "://" + l.Addr().String()
}

// IsLocal reports whether only this machine can reach a listener.
func IsLocal(l net.Listener) bool {
	if l.Addr().Network() == "unix" {
		return true
	}
	at, err := netip.ParseAddrPort(l.Addr().String())
	return err == nil && at.Addr().Unmap().IsLoopback()
}
