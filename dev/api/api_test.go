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

// TestInternalTypes checks that what is exported names no type of an internal package.
func TestInternalTypes(t *testing.T) {
	for _, p := range exported(load(t)) {
		for _, l := range p.lines {
			if l.internal != "" {
				t.Errorf("package %s: %s: %s is internal; users can neither write it nor read about it", p.path, strings.TrimSpace(l.text), l.internal)
			}
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
