package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/toolpost/toolpost/internal/atomicfile"
)

// maxLogFile is the size at which a log file gets the ending .1, in the place of the one
// before, and a new one begins.
const maxLogFile = 5 << 20

// A logFile is a file of log lines that never grows beyond a size.
type logFile struct {
	path string
	max  int64

	mu   sync.Mutex
	file *os.File
	size int64
}

// openLogFile opens a file that only the owner may read.
func openLogFile(path string, max int64) (*logFile, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	l := &logFile{path: path, max: max}
	return l, l.open()
}

func (l *logFile) open() error {
	if info, err := os.Lstat(l.path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("open the log: %s is not a regular file", l.path)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("open the log: %w", err)
	}
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.file, l.size = f, info.Size()
	return nil
}

// Write appends whole lines.
func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size > 0 && l.size+int64(len(p)) > l.max {
		if err := l.turn(); err != nil {
			return 0, err
		}
	}
	n, err := l.file.Write(p)
	l.size += int64(n)
	return n, err
}

// turn begins a new file.
func (l *logFile) turn() error {
	if err := l.file.Close(); err != nil {
		return err
	}
	renamed := atomicfile.Rename(l.path, l.path+".1")
	if renamed != nil {
		_ = os.Truncate(l.path, 0) // such as a file that another program has open on Windows
	}
	return l.open()
}
