//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package rows

import "os"

// lock locks nothing: the standard library has no lock for this system. Users must
// avoid two runs with one output.
func lock(*os.File) error { return nil }
