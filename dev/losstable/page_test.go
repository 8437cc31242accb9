package main

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// TestPages holds the pages against the code. "make update" writes them.
func TestPages(t *testing.T) {
	all, err := pages()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("TOOLPOST_UPDATE") != "" {
		if err := write("../../docs"); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range all {
		got, err := os.ReadFile("../../docs/" + name)
		if diff := cmp.Diff(string(got), want); err != nil || diff != "" {
			t.Errorf("%s: %v; run make update\n%s", name, err, diff)
		}
	}
}

func TestCount(t *testing.T) {
	book, err := dialect.NewBook(map[string][]byte{"test": []byte(`{"extends": "mcp", "title": "Test", "strict": {},
		"input": {"union": {"oneOf": true}, "booleans": true, "enum": {"noConst": true}}, "name": {"pattern": "^[a-z0-9_]+$"}}`)})
	if err != nil {
		t.Fatal(err)
	}
	d, err := book.Find("test")
	if err != nil {
		t.Fatal(err)
	}
	var tools []*toolpost.Tool
	for name, input := range map[string]string{
		"fine": `{"type":"object"}`,
		"a.b":  `{"type":"object"}`,
		"same": `{"type":"object","properties":{"a":{"const":"x"}}}`,
	} {
		tools = append(tools, &toolpost.Tool{Definition: toolpost.Definition{Name: name, Input: schema.MustParse(input)}})
	}
	got := count(d, tools)
	want := tally{same: 1, strict: 3,
		worst:  map[dialect.LossKind]int{"encoded": 1, "noop": 1},
		losses: map[dialect.LossKind]int{"encoded": 1, "noop": 1},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(tally{})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
