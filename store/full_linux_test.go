package store_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/toolpost/toolpost/store"
)

// TestDiskFull fills a small file system.
func TestDiskFull(t *testing.T) {
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("no file system to fill:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil { // the stores keep it open
			t.Error(err)
		}
	})
	if err := os.Chmod(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	fill(t, folder, syscall.ENOSPC)
	evict(t, folder)

	for err := syscall.EBUSY; err == syscall.EBUSY; { // the stores have files open until they are collected
		runtime.GC()
		err, _ = syscall.Mount("", folder, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, "").(syscall.Errno)
		if err != 0 && err != syscall.EBUSY {
			t.Fatal(err)
		}
	}
	readOnly(t, folder, syscall.EROFS)
}

// fill writes until there is no more room.
func fill(t *testing.T, folder string, want error) {
	t.Helper()
	s := open(t, folder, nil)
	if err := keep(t.Context(), s, "small", []byte("small")); err != nil {
		t.Fatal(err)
	}
	before := len(fileNames(t, folder))
	w, err := s.Create(t.Context(), "large")
	if err != nil {
		t.Fatal(err)
	}
	for piece := make([]byte, 40_000); err == nil; {
		_, err = w.Write(piece)
	}
	if !errors.Is(err, want) || !strings.Contains(err.Error(), "must be writable and have room") || strings.Contains(err.Error(), folder) {
		t.Errorf("write without room: %v", err)
	}
	if n := len(fileNames(t, folder)); n > before {
		t.Errorf("a failed write leaves %d files", n-before)
	}
	if _, again := w.Commit(); !errors.Is(again, want) {
		t.Errorf("commit after a failed write: %v", again)
	}
	if err := keep(t.Context(), s, "next", make([]byte, 500_000)); err != nil {
		t.Errorf("the room is not free again: %v", err)
	}
	if err := s.Remove(t.Context(), "next"); err != nil {
		t.Fatal(err)
	}
}

// evict keeps more than the disk holds: the oldest blobs make room.
func evict(t *testing.T, folder string) {
	t.Helper()
	s := open(t, folder, nil)
	for i := range 8 {
		if err := keep(t.Context(), s, fmt.Sprint("blob-", i), make([]byte, 300_000)); err != nil {
			t.Fatal(err)
		}
	}
	for name, there := range map[string]bool{"blob-0": false, "blob-6": true, "blob-7": true} {
		b, err := s.Open(t.Context(), name)
		if (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			b.Close()
		}
	}
	keepTwo(t, s)
}

// keepTwo keeps a blob in a segment, and one in a file of its own, because it was used.
func keepTwo(t *testing.T, s store.Store) {
	t.Helper()
	for _, name := range []string{"small", "used"} {
		if err := keep(t.Context(), s, name, []byte("small")); err != nil {
			t.Fatal(err)
		}
	}
	b, err := s.Open(t.Context(), "used")
	if err == nil {
		err = b.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// readOnly reads blobs from a folder that cannot be written.
func readOnly(t *testing.T, folder string, want error) {
	t.Helper()
	s := open(t, folder, nil)
	for _, name := range []string{"small", "used"} {
		b, err := s.Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.ReadAt(make([]byte, 5), 0); err != nil {
			t.Error(err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	for doing, err := range map[string]error{"create": keep(t.Context(), s, "new", nil), "remove": s.Remove(t.Context(), "used")} {
		if !errors.Is(err, want) || strings.Contains(err.Error(), folder) {
			t.Errorf("%s in a read-only folder: %v", doing, err)
		}
	}
}

// TestFileLimit does what TestDiskFull does, where nothing may be mounted.
func TestFileLimit(t *testing.T) { inChild(t, "TestFileLimitChild", t.TempDir()) }

func inChild(t *testing.T, test, folder string) {
	t.Helper()
	if out, err := child(t, test, "TOOLPOST_STORE_FOLDER", folder).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// childFolder is the folder for the part of a test in a process of its own.
func childFolder(t *testing.T) string {
	folder := os.Getenv("TOOLPOST_STORE_FOLDER")
	if folder == "" {
		t.Skip("part of another test")
	}
	return folder
}

func TestFileLimitChild(t *testing.T) {
	folder := childFolder(t)
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 20, Max: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	fill(t, folder, syscall.EFBIG)
}

// TestReadOnly gives up the rights of root, if it has them.
func TestReadOnly(t *testing.T) {
	folder := t.TempDir()
	keepTwo(t, open(t, folder, nil))
	if err := os.Chmod(folder, 0o500); err != nil {
		t.Fatal(err)
	}
	inChild(t, "TestReadOnlyChild", folder)
}

func TestReadOnlyChild(t *testing.T) {
	folder := childFolder(t)
	if os.Getuid() == 0 {
		const nobody = 65534
		paths := []string{filepath.Dir(folder), folder}
		for _, name := range fileNames(t, folder) {
			paths = append(paths, filepath.Join(folder, name))
		}
		for _, path := range paths {
			if err := os.Chown(path, nobody, -1); err != nil {
				t.Fatal(err)
			}
		}
		if err := syscall.Setuid(nobody); err != nil {
			t.Fatal(err)
		}
	}
	readOnly(t, folder, fs.ErrPermission)
	if _, err := store.Dir(folder+"/new", nil); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a new store in a read-only folder: %v", err)
	}
}

// A pipe in the place of a file holds nobody up.
func TestPipe(t *testing.T) {
	folder := t.TempDir()
	s := open(t, folder, &store.Options{Max: 1000})
	for _, kind := range []string{".blob", ".segment", ".manifest"} {
		if err := keep(t.Context(), s, "a", []byte("a")); err != nil {
			t.Fatal(err)
		}
		if kind == ".blob" { // what is used gets one
			b, err := s.Open(t.Context(), "a")
			if err == nil {
				err = b.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		path := onlyFile(t, folder, kind)
		for range 2 {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				t.Fatal(err)
			}
			for info, err := range s.List(t.Context()) {
				t.Errorf("%s: list has %+v, error %v", kind, info, err)
			}
			if _, err := s.Open(t.Context(), "a"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: open a pipe: error %v", kind, err)
			}
			if err := keep(t.Context(), s, "b", make([]byte, 900)); err != nil {
				t.Error(kind, err)
			}
			if err := s.Remove(t.Context(), "b"); err != nil {
				t.Error(kind, err)
			}
		}
	}
}
