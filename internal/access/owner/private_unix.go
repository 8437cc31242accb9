//go:build unix

package owner

import (
	"io/fs"
	"syscall"

	"github.com/toolpost/toolpost/internal/ownership"
)

// ownerOnly reports whether the file belongs to this user, and no other user may
// read or write it.
func ownerOnly(info fs.FileInfo) bool { return ownership.Owned(info) && info.Mode().Perm()&0o077 == 0 }

// ownerWrites reports whether the folder belongs to this user or root, and
// no other user may replace the user's files in it.
func ownerWrites(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	shared := info.Mode().Perm()&0o022 != 0 && info.Mode()&fs.ModeSticky == 0
	return ok && (stat.Uid == 0 || ownership.Owned(info)) && !shared
}
