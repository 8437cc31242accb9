package atomicfile

import (
	"errors"
	"syscall"
)

// isHeldOpen reports whether err can mean that another program has the file open.
// Windows also denies access if it does not allow the change at all.
func isHeldOpen(err error) bool {
	const sharingViolation = syscall.Errno(32)
	return errors.Is(err, sharingViolation) || errors.Is(err, syscall.ERROR_ACCESS_DENIED)
}
