package stdtool

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// again runs the test that calls it in a process of its own, which is told by
// the variable TOOLPOST_AGAIN. It returns how that ended.
func again(t *testing.T, value string, as *syscall.Credential) error {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "TOOLPOST_AGAIN="+value)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Logf("the process tells: %.400s", out)
	}
	return err
}

// letters is a file's content that is larger than nothing.
func letters() []byte { return bytes.Repeat([]byte("abcdefghij"), 1000) }

// edited replaces the content of dir/f.
func edited(t *testing.T, dir string, content []byte) error {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	d, err := (NewWorkspace(root)).open(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { d.unlock() }()
	return d.save(content)
}

// linked makes a file with two names.
func linked(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), letters(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(dir, "f"), filepath.Join(dir, "other")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// limited lets no file have more than some bytes.
func limited(t *testing.T) {
	t.Helper()
	limit := syscall.Rlimit{Cur: 12_000, Max: 12_000}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
}

// left returns what else is in a folder with linked files.
func left(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A file with several names that cannot be written whole is as it was.
func TestOverwriteRestores(t *testing.T) {
	if os.Getenv("TOOLPOST_AGAIN") == "" {
		if err := again(t, "1", nil); err != nil {
			t.Errorf("the process with the limit ended with %v", err)
		}
		return
	}
	dir := linked(t)
	signal.Ignore(syscall.SIGXFSZ)
	limited(t)
	if err := edited(t, dir, make([]byte, 14_000)); err == nil {
		t.Error("more was written than may be")
	}
	if got, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || !bytes.Equal(got, letters()) {
		t.Errorf("the file has %d other bytes (%v)", len(got), err)
	}
	if files := left(t, dir); len(files) > 0 {
		t.Errorf("%v are left", files)
	}
}

// What a file with several names held can be got back if the process ends while
// it is written: here at the limit, where the system kills whoever lets it.
func TestOverwriteKilled(t *testing.T) {
	if dir := os.Getenv("TOOLPOST_AGAIN"); dir != "" {
		var letIt [64]byte // a struct sigaction with SIG_DFL
		const setSize = 8
		if _, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(syscall.SIGXFSZ), uintptr(unsafe.Pointer(&letIt)), 0, setSize, 0, 0); errno != 0 {
			t.Skip(errno)
		}
		limited(t)
		t.Errorf("it goes on: %v", edited(t, dir, make([]byte, 14_000)))
		return
	}
	dir := linked(t)
	if err := again(t, dir, nil); err == nil {
		t.Fatal("the process was not killed")
	}
	if got, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || bytes.Equal(got, letters()) {
		t.Fatalf("the file was not written to (%v)", err)
	}
	files := left(t, dir)
	if len(files) != 1 || !strings.HasPrefix(filepath.Base(files[0]), ".f.toolpost-") {
		t.Fatalf("beside it are %v", files)
	}
	if got, err := os.ReadFile(files[0]); err != nil || !bytes.Equal(got, letters()) {
		t.Errorf("the copy has %d other bytes (%v)", len(got), err)
	}
	if err := edited(t, dir, letters()); err != nil {
		t.Error(err)
	}
	if files := left(t, dir); len(files) != 1 {
		t.Errorf("another edit leaves %v", files)
	}
}

// acl gives another user rights to a file, as in linux/posix_acl_xattr.h: the
// owner, user 1234, the group, the mask, and others.
const acl = "\x02\x00\x00\x00" +
	"\x01\x00\x06\x00\xff\xff\xff\xff" + "\x02\x00\x06\x00\xd2\x04\x00\x00" +
	"\x04\x00\x04\x00\xff\xff\xff\xff" + "\x10\x00\x06\x00\xff\xff\xff\xff" + "\x20\x00\x00\x00\xff\xff\xff\xff"

// An edited file has the attributes that it had, and no others.
func TestEditKeepsAttributes(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Setxattr(dir, "system.posix_acl_default", []byte(acl), 0); err != nil {
		t.Skipf("the file system has no access control lists: %v", err)
	}
	for name, want := range map[string]map[string]string{
		"none":        {},
		"of the user": {"user.note": "text", "user.empty": ""},
		"a list":      {"system.posix_acl_access": acl},
	} {
		path := filepath.Join(dir, "f")
		if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
			t.Fatal(err)
		}
		if err := unix.Removexattr(path, "system.posix_acl_access"); err != nil {
			t.Fatal(err)
		}
		for attribute, value := range want {
			if err := unix.Setxattr(path, attribute, []byte(value), 0); err != nil {
				t.Fatal(err)
			}
		}
		before, _ := os.Stat(path)
		if err := edited(t, dir, []byte("new")); err != nil {
			t.Fatal(err)
		}
		after, _ := os.Stat(path)
		if os.SameFile(before, after) || before.Mode() != after.Mode() {
			t.Errorf("%s: the file was written in place, or has another mode: %v, not %v", name, after.Mode(), before.Mode())
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		names, err := attributes(int(f.Fd()))
		for _, name := range names {
			value, err := readXattr(int(f.Fd()), name)
			if err != nil {
				t.Error(err)
			}
			got[name] = string(value)
		}
		f.Close()
		if err != nil || !maps.Equal(got, want) {
			t.Errorf("%s: got %q, want %q (%v)", name, got, want, err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// A file of another user whose group may write it keeps both.
func TestEditKeepsOwner(t *testing.T) {
	if dir := os.Getenv("TOOLPOST_AGAIN"); dir != "" {
		if err := edited(t, dir, []byte("new")); err != nil {
			t.Error(err)
		}
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can act as another user")
	}
	dir, err := os.MkdirTemp("/tmp", "toolpost-") // others can get there
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	const nobody, owner, group = 65534, 1001, 4000
	path := filepath.Join(dir, "f")
	if err := errors.Join(os.WriteFile(path, []byte("old"), 0o600), os.Chown(path, owner, group), os.Chmod(path, 0o664), os.Chown(dir, nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	if err := again(t, dir, &syscall.Credential{Uid: nobody, Gid: nobody, Groups: []uint32{group}}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(path)
	if s := info.Sys().(*syscall.Stat_t); string(got) != "new" || s.Uid != owner || s.Gid != group || info.Mode() != 0o664 {
		t.Errorf("it holds %q, and is of %d:%d with the mode %v", got, s.Uid, s.Gid, info.Mode())
	}
}

// A pipe that took the place of a file does not hold the edit.
func TestEditOfPipe(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	d, err := NewWorkspace(root).open(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { d.unlock() }()
	if err := errors.Join(os.Remove(filepath.Join(dir, "f")), unix.Mkfifo(filepath.Join(dir, "f"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := d.save([]byte("new")); err == nil {
		t.Error("a pipe was edited")
	}
}

// What may not be given to another file stays where it is.
func TestEditInPlace(t *testing.T) {
	if dir := os.Getenv("TOOLPOST_AGAIN"); dir != "" {
		if err := edited(t, dir, []byte("new")); err != nil {
			t.Error(err)
		}
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can set an attribute that others cannot")
	}
	dir, err := os.MkdirTemp("/tmp", "toolpost-") // others can get there
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	if err := errors.Join(unix.Setxattr(path, "security.toolpost", []byte("x"), 0), os.Chown(path, nobody, nobody), os.Chown(dir, nobody, nobody)); err != nil {
		t.Skip(err)
	}
	before, _ := os.Stat(path)
	if err := again(t, dir, &syscall.Credential{Uid: nobody, Gid: nobody}); err != nil {
		t.Fatal(err)
	}
	after, _ := os.Stat(path)
	if got, err := os.ReadFile(path); err != nil || string(got) != "new" || !os.SameFile(before, after) {
		t.Errorf("it holds %q, and is the same file: %v (%v)", got, os.SameFile(before, after), err)
	}
	if files := left(t, dir); len(files) > 0 {
		t.Errorf("%v are left", files)
	}
}
