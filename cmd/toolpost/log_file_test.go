package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLogFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	l, err := openLogFile(path, 100)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := l.Write([]byte(strings.Repeat("x", 29) + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.file.Close(); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{path: 60, path + ".1": 90} {
		if data, err := os.ReadFile(name); err != nil || len(data) != want {
			t.Errorf("%s has %d bytes, want %d: %v", name, len(data), want, err)
		}
	}
	if l, err = openLogFile(path, 100); err != nil || l.size != 60 {
		t.Errorf("opened again: %v", err)
	} else if err := l.file.Close(); err != nil {
		t.Fatal(err)
	}
	link := path + ".link"
	if err := os.Symlink(path, link); err != nil {
		t.Skip(err)
	}
	if _, err := openLogFile(link, 100); err == nil {
		t.Error("a link was opened")
	}
}
