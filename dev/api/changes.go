package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// recordFile is the recorded list of what the module exports, below its folder.
const recordFile = "docs/evidence/api.txt"

// changes tell what has become of the record: lines that are gone or say something else
// break programs that use them, lines that are new break none. A field or method that an
// interface gains breaks those who implement it.
type changes struct {
	breaking, added []string
}

// compare returns what changed from one record to another. The lines of a record name their
// package, and members their type, so that lines that are alike are told apart.
func compare(before, after string) changes {
	old, now := named(before), named(after)
	var c changes
	for _, l := range old.order {
		if !now.has[l] {
			c.breaking = append(c.breaking, "- "+l)
		}
	}
	for _, l := range now.order {
		switch {
		case old.has[l]:
		case old.interfaces[ownerOf(l)]:
			c.breaking = append(c.breaking, "+ "+l)
		default:
			c.added = append(c.added, "+ "+l)
		}
	}
	return c
}

func (c changes) String() string { return strings.Join(append(c.breaking, c.added...), "\n") }

// records are lines of which each says what it belongs to.
type records struct {
	order      []string
	has        map[string]bool
	interfaces map[string]bool // "package: type Name", of interfaces
}

func named(text string) records {
	r := records{has: map[string]bool{}, interfaces: map[string]bool{}}
	pkg, owner := "", ""
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\n")
		switch {
		case strings.HasPrefix(l, "package "):
			pkg = strings.TrimPrefix(l, "package ")
			continue
		case strings.HasPrefix(l, "\t"):
			l = owner + ": " + strings.TrimSpace(l)
		case l == "":
			continue
		default:
			l = pkg + ": " + l
			owner = l
			if strings.HasSuffix(l, " interface") {
				r.interfaces[l] = true
			}
		}
		if !r.has[l] {
			r.has[l] = true
			r.order = append(r.order, l)
		}
	}
	return r
}

// ownerOf returns the line of the type that a line belongs to.
func ownerOf(l string) string {
	if i := strings.LastIndex(l, " interface: "); i >= 0 {
		return l[:i+len(" interface")]
	}
	return ""
}

// recordAt returns the record as it was at a revision of the repository.
func recordAt(root, revision string) (string, error) {
	cmd := exec.Command("git", "show", revision+":"+recordFile)
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("read %s at %s: %w", recordFile, revision, err)
	}
	return string(out), nil
}

func writeRecord(root, text string) error {
	return os.WriteFile(filepath.Join(root, recordFile), []byte(text), 0o644)
}
