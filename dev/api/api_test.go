package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/dev/floors"
)

const root = "../.."

func load(t *testing.T) []*floors.File {
	t.Helper()
	files, err := floors.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// internalTypes are the declarations that still name a type of an internal package. Nothing
// is added here: give the package a type of its own.
var internalTypes = []string{
	"gateway Options.Secrets", "upstream Options.Budget", "upstream Options.Secrets",
}

// TestInternalTypes checks that what is exported names no type of an internal package.
func TestInternalTypes(t *testing.T) {
	var found []string
	for _, p := range exported(load(t)) {
		for _, l := range p.lines {
			if l.internal == "" {
				continue
			}
			found = append(found, p.path+" "+l.name)
			if !slices.Contains(internalTypes, p.path+" "+l.name) {
				t.Errorf("package %s: %s: %s is internal; users can neither write it nor read about it", p.path, strings.TrimSpace(l.text), l.internal)
			}
		}
	}
	for _, known := range internalTypes {
		if !slices.Contains(found, known) {
			t.Errorf("%s names no internal type any more: take it out of internalTypes", known)
		}
	}
}

// withoutUser are exported names that neither other code nor an Example nor a page uses, and
// why they are there.
var withoutUser = map[string]string{
	"dep Clock": "a dependency that tests of tools replace",
}

// TestUsers checks that each exported name has a user outside of its package.
func TestUsers(t *testing.T) {
	found, err := unused(root, exported(load(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range found {
		if withoutUser[name] == "" {
			t.Errorf("%s has no user outside of its package, no Example, and no page shows it: make it private, or give the reason in withoutUser", name)
		}
	}
	for name := range withoutUser {
		if !slices.Contains(found, name) {
			t.Errorf("%s has a user, or is gone: take it out of withoutUser", name)
		}
	}
}
