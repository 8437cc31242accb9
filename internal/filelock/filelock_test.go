package filelock_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/toolpost/toolpost/internal/filelock"
)

// TestWait has two openings of a folder wait for each other.
func TestWait(t *testing.T) {
	dir := t.TempDir()
	open := func() *os.File {
		f, err := os.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	first, second := open(), open()
	if err := filelock.Try(first, true); err != nil {
		t.Skip("folders have no locks here:", err)
	}
	if err := filelock.Try(second, true); !errors.Is(err, filelock.ErrHeld) {
		t.Errorf("the lock was had twice: %v", err)
	}
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := filelock.Wait(short, second); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting ended with %v", err)
	}
	got := make(chan error)
	go func() { got <- filelock.Wait(t.Context(), second) }()
	filelock.Release(first)
	if err := <-got; err != nil {
		t.Error(err)
	}
}
