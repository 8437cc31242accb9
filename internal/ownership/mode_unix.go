//go:build unix

package ownership

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// CheckInfo is [Check] for a file whose information is known, so that it is the one that was
// opened.
func CheckInfo(file string, info fs.FileInfo) error {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return checkOwner(file, s.Uid, s.Gid, info.Mode().Perm())
}

// checkLink reports whether someone else than the current user and the administrator
// owns a symbolic link, whose mode means nothing.
func checkLink(link string, info fs.FileInfo) error {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return checkOwner(link, s.Uid, s.Gid, 0)
}

func checkOwner(file string, uid, gid uint32, mode fs.FileMode) error {
	switch {
	case uid != 0 && int(uid) != os.Geteuid():
		return fmt.Errorf("%s belongs to another user (uid %d), who could change it at any time; copy it to a file of your own", file, uid)
	case mode&0o002 != 0, mode&0o020 != 0 && !privateGroup(gid):
		return fmt.Errorf("other users can write %s; run: chmod go-w %q", file, file)
	}
	return nil
}

// privateGroup reports whether a group is the user's own. Some systems give
// every user such a group, of the same name, and let it write new files.
func privateGroup(gid uint32) bool {
	me, err := user.Current()
	if err != nil || me.Gid != strconv.FormatUint(uint64(gid), 10) {
		return false
	}
	group, err := user.LookupGroupId(me.Gid)
	return err == nil && group.Name == me.Username
}

// OthersCanWrite reports whether every user of the machine can write a file.
func OthersCanWrite(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().Perm()&0o002 != 0
}

// Owned reports whether a file belongs to the current user.
func Owned(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}
