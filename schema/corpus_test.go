package schema_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// readLines decodes a file of JSON lines.
func readLines[T any](t testing.TB, file string) []T {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []T
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	if lines.Err() != nil || len(all) == 0 {
		t.Fatalf("%s: %d lines, %v", file, len(all), lines.Err())
	}
	return all
}

type corpusEntry struct {
	Name, Source   string
	Schema         json.RawMessage
	Valid, Invalid []json.RawMessage
}

// inexact lists the schemas of the corpus that have findings.
var inexact = map[string]string{
	"wild_draft04":       "draft-03 required",
	"wild_inplace_cycle": "refers to itself in place",
}

func TestCorpus(t *testing.T) {
	for _, e := range readLines[corpusEntry](t, "testdata/corpus.jsonl") {
		t.Run(e.Name, func(t *testing.T) {
			v := compile(t, string(e.Schema))
			if _, listed := inexact[e.Name]; listed != (len(v.Report()) > 0) {
				t.Errorf("report: %v", v.Report())
			}
			for _, value := range e.Valid {
				if err := v.Validate(value); err != nil {
					t.Errorf("%s is refused: %v", value, err)
				}
			}
			for _, value := range e.Invalid {
				err := v.Validate(value)
				if err == nil {
					t.Errorf("%s is accepted", value)
					continue
				}
				t.Logf("%s\n%v", value, err)
				if len(err.Error()) > 1024 || strings.Contains(err.Error(), "less work") {
					t.Errorf("%s: %v", value, err)
				}
			}
		})
	}
}

func TestRealTools(t *testing.T) {
	tools := readLines[struct {
		Tool   string
		Schema json.RawMessage
	}](t, "testdata/tools.jsonl")
	for _, tool := range tools {
		v := compile(t, string(tool.Schema))
		if len(v.Report()) > 0 {
			t.Errorf("%s: %v", tool.Tool, v.Report())
		}
		if err := v.Validate([]byte(`[]`)); err == nil && strings.Contains(string(tool.Schema), `"type":"object"`) {
			t.Errorf("%s accepts an array", tool.Tool)
		}
	}
}
