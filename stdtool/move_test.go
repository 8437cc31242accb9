package stdtool_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestMove checks that what is moved stays what it is.
func TestMove(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a/b/script", []byte("#!/bin/sh\n"))
	if err := os.Chmod(filepath.Join(dir, "a/b/script"), 0o754); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(filepath.Join(dir, "a/b/script"))
	if err != nil {
		t.Fatal(err)
	}
	set := workspace(t, dir)
	for _, tt := range [][2]string{
		{`{"from":"a/b","to":"x/y/z"}`, "a/b: moved to x/y/z\n"},
		{`{"from":"x/y/z/script","to":"a/script"}`, "x/y/z/script: moved to a/script\n"},
		{`{"from":"a/script/","to":"./a/../run"}`, "a/script: moved to run\n"},
	} {
		if got := call(t, set, "move", tt[0]); got != tt[1] {
			t.Errorf("move %s: %q, want %q", tt[0], got, tt[1])
		}
	}
	after, err := os.Stat(filepath.Join(dir, "run"))
	if err != nil || !os.SameFile(before, after) || after.Mode() != before.Mode() {
		t.Errorf("%v, error %v; before it was %v", after, err, before)
	}
	if got, want := call(t, set, "list", `{"depth":9}`), "a/\nrun  10\nx/\nx/y/\nx/y/z/\n"; got != want {
		t.Errorf("left is %q, want %q", got, want)
	}
}

// TestMoveNeverOverwrites has many move to one path at once.
func TestMoveNeverOverwrites(t *testing.T) {
	dir := t.TempDir()
	const n = 16
	for i := range n {
		write(t, dir, fmt.Sprintf("%02d", i), fmt.Appendf(nil, "text of %02d\n", i))
	}
	set := workspace(t, dir)
	var moving sync.WaitGroup
	results := make([]string, n)
	for i := range n {
		moving.Go(func() { results[i] = call(t, set, "move", fmt.Sprintf(`{"from":"%02d","to":"new/one"}`, i)) })
	}
	moving.Wait()
	moved := 0
	for i, r := range results {
		name, text := fmt.Sprintf("%02d", i), fmt.Sprintf("text of %02d\n", i)
		if strings.HasPrefix(r, name+": moved") {
			moved++
			name = "new/one"
		} else if !strings.Contains(r, "already exists") {
			t.Error(r)
		}
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != text {
			t.Errorf("%s is %q, error %v", name, got, err)
		}
	}
	if moved != 1 {
		t.Errorf("%d were moved, want 1", moved)
	}
}
