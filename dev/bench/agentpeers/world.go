package main

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// A world is what the tools of the first two tasks know.
type world struct {
	mu      sync.Mutex
	running int
	atOnce  int // the most calls that ran at the same time
	met     chan struct{}
}

func newWorld() *world { return &world{met: make(chan struct{})} }

func (w *world) degrees(string) int {
	w.meet()
	return 12
}

func (w *world) people(string) int {
	w.meet()
	return 717710
}

func (w *world) stock(string) int { return 42 }

// meet waits until two calls run at the same time, or gives up.
func (w *world) meet() {
	w.mu.Lock()
	w.running++
	w.atOnce = max(w.atOnce, w.running)
	if w.running == 2 {
		close(w.met)
	}
	w.mu.Unlock()
	select {
	case <-w.met:
	case <-time.After(2 * time.Second):
	}
	w.mu.Lock()
	w.running--
	w.mu.Unlock()
}

// The moments at which the process is killed, while the third line is appended.
const (
	beforeWrite = "before"
	afterWrite  = "after"
	never       = "never"
)

// A file is what the tools of the third task write.
type file struct{ path, moment string }

// appendLine writes a line. At its moment it kills the process, as kill -9 does.
func (f *file) appendLine(text string) (string, error) {
	if f.moment == beforeWrite && text == "3" {
		return "", kill()
	}
	out, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	_, err = out.WriteString(text + "\n")
	if err := errors.Join(err, out.Close()); err != nil {
		return "", err
	}
	if f.moment == afterWrite && text == "3" {
		return "", kill()
	}
	return appended, nil
}

// appended is the result of a call of appendLine.
const appended = "appended"

func kill() error {
	self, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	if err := self.Kill(); err != nil {
		return err
	}
	select {} // until the signal arrives
}

func (f *file) readLines() ([]string, error) {
	data, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return slices.DeleteFunc(strings.Split(string(data), "\n"), func(line string) bool { return line == "" }), err
}
