package main

import (
	"fmt"
	"slices"
	"strings"
)

// A size is that of a result.
type size struct {
	name  string
	bytes int
}

var sizes = []size{{"1KB", 1 << 10}, {"64KB", 64 << 10}, {"1MB", 1 << 20}, {"20MiB", 20 << 20}}

// outputLimit is the size above which Toolpost's output layer shows an excerpt by default.
const outputLimit = 48000

// A cell is what all subjects are measured with in turn.
type cell struct {
	size    size
	clients int
	era     string
}

func (c cell) String() string {
	return fmt.Sprintf("%s c%d %s", c.size.name, c.clients, c.era)
}

// A choice selects cells and subjects by words, such as 1KB, c32, 2025 or stdio.
// Words of the same kind are alternatives; a kind without a word is not limited.
type choice map[string][]string

// kinds are the words that a choice knows.
var kinds = map[string][]string{
	"size":     {"1KB", "64KB", "1MB", "20MiB"},
	"clients":  {"c1", "c32"},
	"era":      {"2025", "2026"},
	"upstream": {"http", "stdio"},
}

func parseChoice(words string, subjects []string) (choice, error) {
	c := choice{}
	for _, word := range strings.FieldsFunc(words, func(r rune) bool { return r == ',' || r == ' ' }) {
		kind := ""
		for k, known := range kinds {
			if slices.Contains(known, word) {
				kind = k
			}
		}
		if slices.Contains(subjects, word) {
			kind = "subject"
		}
		if kind == "" {
			return nil, fmt.Errorf("there is no cell %q; the words are 1KB, 64KB, 1MB, 20MiB, c1, c32, 2025, 2026, http, stdio, %s",
				word, strings.Join(subjects, ", "))
		}
		c[kind] = append(c[kind], word)
	}
	return c, nil
}

func (c choice) has(kind, word string) bool {
	return len(c[kind]) == 0 || slices.Contains(c[kind], word)
}

// cells returns the chosen cells. 20 MiB with 32 clients is not measured unless
// both are named: what decodes a result needs minutes and gigabytes for it.
func (c choice) cells() []cell {
	var all []cell
	for _, s := range sizes {
		for _, clients := range []int{1, 32} {
			for _, era := range []string{sessionEra, statelessEra} {
				word := fmt.Sprintf("c%d", clients)
				named := len(c["size"]) > 0 && len(c["clients"]) > 0
				if !c.has("size", s.name) || !c.has("clients", word) || !c.has("era", era[:4]) || s.bytes > 1<<20 && clients > 1 && !named {
					continue
				}
				all = append(all, cell{s, clients, era})
			}
		}
	}
	return all
}
