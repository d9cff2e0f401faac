//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package files

import "os"

// Lock locks nothing: the standard library has no lock for this system. Users must
// avoid two runs with one output.
func Lock(*os.File) error { return nil }
