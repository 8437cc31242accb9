package stdtool

import (
	"context"
	"io/fs"
	"syscall"
	"testing"
	"testing/synctest"
)

// Who finds no file descriptor waits until others give theirs back, but not
// forever.
func TestPatiently(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left := 100
		open := func() (int, error) {
			if left--; left > 0 {
				return 0, &fs.PathError{Err: syscall.EMFILE}
			}
			return 7, nil
		}
		if got, err := patiently(t.Context(), open); got != 7 || err != nil {
			t.Errorf("got %d, %v", got, err)
		}
		left = 1 << 30
		if _, err := patiently(t.Context(), open); !outOfFiles(err) {
			t.Errorf("got %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		before := left
		if _, err := patiently(ctx, open); !outOfFiles(err) || before-left != 1 {
			t.Errorf("got %v after %d attempts", err, before-left)
		}
	})
}
