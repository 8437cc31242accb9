package filewatch_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/toolpost/toolpost/internal/filewatch"
)

// A file is watched on when its folder was removed and made again, or another
// folder took its place.
func TestFolderIsAnotherOne(t *testing.T) {
	for name, replace := range map[string]func(folder string) error{
		"removed": os.RemoveAll,
		"moved":   func(folder string) error { return os.Rename(folder, folder+" before") },
		"its parent moved": func(folder string) error {
			return os.Rename(filepath.Dir(folder), filepath.Dir(folder)+" before")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "a", "b")
			file := filepath.Join(folder, "file")
			write := func(text string) {
				t.Helper()
				if err := os.MkdirAll(folder, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write("one")
			ctx, cancel := context.WithCancel(t.Context())
			seen, done := make(chan string, 1), make(chan struct{})
			go func() {
				defer close(done)
				filewatch.Watch(ctx, []string{file}, func() {
					text, _ := os.ReadFile(file)
					select {
					case <-seen:
					default:
					}
					seen <- string(text)
				})
			}()
			await := func(want string) {
				t.Helper()
				late := time.After(time.Minute)
				for {
					select {
					case got := <-seen:
						if got == want {
							return
						}
					case <-late:
						t.Fatalf("it does not report %q", want)
					}
				}
			}
			await("one")
			if err := replace(folder); err != nil {
				t.Fatal(err)
			}
			write("two")
			await("two")
			write("three")
			await("three")
			cancel()
			<-done
		})
	}
}
