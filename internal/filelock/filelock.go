// Package filelock locks open files against other processes.
package filelock

import (
	"context"
	"errors"
	"os"
	"time"
)

// ErrHeld reports that another holds the lock.
var ErrHeld = errors.New("another holds the lock")

// Wait takes the exclusive lock of a file as soon as it is free.
func Wait(ctx context.Context, f *os.File) error {
	for pause := time.Millisecond; ; pause = min(2*pause, 8*time.Millisecond) {
		if err := Try(f, true); !errors.Is(err, ErrHeld) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
