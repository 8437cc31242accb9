package atomicfile

import (
	"os"
	"time"
)

// Rename renames a file or a folder, as [Retry] does.
func Rename(from, to string) error {
	return Retry(func() error { return os.Rename(from, to) })
}

// Retry calls a function that renames or removes something until it returns another
// error than that other programs hold the file open, for two seconds at most. Only
// Windows has such an error: readers, virus scanners and indexers cause it.
func Retry(rename func() error) error { return retry(rename, isHeldOpen) }

const maxRetry = 2 * time.Second

func retry(rename func() error, isHeld func(error) bool) error {
	began := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		err := rename()
		if err == nil || !isHeld(err) || time.Since(began) >= maxRetry {
			return err
		}
		time.Sleep(pause)
	}
}
