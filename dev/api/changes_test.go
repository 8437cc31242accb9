package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRecord checks that what the module exports is what is recorded.
func TestRecord(t *testing.T) {
	recorded, err := os.ReadFile(filepath.Join(root, recordFile))
	if err != nil {
		t.Fatal(err)
	}
	if now := record(exported(load(t))); now != string(recorded) {
		t.Errorf("what the module exports has changed; say it in CHANGELOG.md and run \"make api UPDATE=1\":\n%s",
			compare(string(recorded), now))
	}
}

// TestChangelog checks that the last change of the record has a line in the CHANGELOG.
func TestChangelog(t *testing.T) {
	git := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			t.Skipf("git %s: %v", args[0], err)
		}
		return string(out)
	}
	const log = "CHANGELOG.md"
	changed := git("status", "--porcelain", "--", recordFile, log)
	if !strings.Contains(changed, recordFile) {
		last := strings.TrimSpace(git("log", "-1", "--format=%H", "--", recordFile))
		if last == "" {
			t.Skip("the record has no commit")
		}
		changed = git("show", "--format=", "--name-only", last)
	}
	if !strings.Contains(changed, log) {
		t.Errorf("%s has changed without a line in %s", recordFile, log)
	}
}

func TestCompare(t *testing.T) {
	const before = "package .\ntype A struct\n\tID string\ntype B interface\n\tRun func()\nfunc Gone()\n\npackage x\nfunc New() *A\n"
	const after = "package .\ntype A struct\n\tID int\n\tName string\ntype B interface\n\tRun func()\n\tStop func()\n\npackage x\nfunc New() *A\nfunc More()\n"
	c := compare(before, after)
	if want := []string{"- .: type A struct: ID string", "- .: func Gone()", "+ .: type B interface: Stop func()"}; !slices.Equal(c.breaking, want) {
		t.Errorf("breaking: %q, want %q", c.breaking, want)
	}
	if want := []string{"+ .: type A struct: ID int", "+ .: type A struct: Name string", "+ x: func More()"}; !slices.Equal(c.added, want) {
		t.Errorf("added: %q, want %q", c.added, want)
	}
	if c := compare(before, before); c.breaking != nil || c.added != nil {
		t.Errorf("nothing changed, but got %v", c)
	}
}
