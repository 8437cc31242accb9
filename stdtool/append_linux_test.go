package stdtool

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestOpenElsewhere opens a file for appending, as the program does whose line an edit
// waits for.
func TestOpenElsewhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	free := func() { // a process that another test starts has the file until it runs
		for end := time.Now().Add(time.Minute); isOpenElsewhere(f); {
			if time.Now().After(end) {
				t.Fatal("the file is open elsewhere")
			}
		}
	}
	free()
	other, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !isOpenElsewhere(f) {
		other.Close()
		t.Skip("this file system has no leases")
	}
	other.Close()
	free()
	if isOpenElsewhere(nil) {
		t.Error("no file is open")
	}
}
