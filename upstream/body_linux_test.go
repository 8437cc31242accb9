package upstream

import (
	"bytes"
	"os"
	"syscall"
	"testing"
)

// TestBodyFullDisk checks that a message that a full disk does not take stays in
// memory as long as it is not too long for that.
func TestBodyFullDisk(t *testing.T) {
	full := t.TempDir()
	if err := syscall.Mount("tmpfs", full, "tmpfs", 0, "size=5m"); err != nil {
		t.Log("no file system to fill, the folder takes no file instead:", err)
		full = "/dev/null/none"
	} else {
		t.Cleanup(func() {
			if err := syscall.Unmount(full, 0); err != nil {
				t.Error(err)
			}
		})
	}
	part := bytes.Repeat([]byte("0123456789abcdef"), 64<<10) // 1 MiB
	for _, dir := range []string{full, "/dev/null/none"} {
		b := &body{limits: &limits{max: 16 << 20, dir: dir}}
		for range 16 {
			b.add(part)
		}
		if data, err := b.load(); err != nil || !bytes.Equal(data, bytes.Repeat(part, 16)) {
			t.Errorf("%s: %d of %d bytes are in memory: %v", dir, len(data), b.size, err)
		}
		b.add(part)
		if b.settle() || b.spool != nil || b.size != 17<<20 || !bytes.Equal(b.head, part[:edge]) {
			t.Errorf("%s: %d bytes are not given up", dir, b.size)
		}
	}
	if files, _ := os.ReadDir(full); len(files) > 0 {
		t.Errorf("%v are left", files)
	}
}
