//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package rows

import (
	"os"
	"syscall"
)

// lock locks a file for this process, or fails at once where another has it.
// The system frees the lock when the process ends, however it ends.
func lock(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
