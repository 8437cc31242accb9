package schema_test

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/schema"
)

// TestStrictOutput compares StrictOutput with the answers of the validators of
// the official TypeScript clients, which the test of that name in dev/live
// has recorded.
func TestStrictOutput(t *testing.T) {
	file, err := os.Open("testdata/strict.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	n := 0
	for ; lines.Scan(); n++ {
		var record struct {
			Schema   json.RawMessage
			Ajv      []string // the errors of versions 1 and 2
			Stricter bool     // Toolpost refuses it, and Ajv does not
		}
		if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
			t.Fatal(err)
		}
		s := schema.MustParse(string(record.Schema))
		want := record.Stricter || strings.Join(record.Ajv, "") != ""
		if err := s.StrictOutput(); (err != nil) != want {
			t.Errorf("%s\n\tStrictOutput: %v\n\tAjv: %q", record.Schema, err, record.Ajv)
		}
	}
	if err := lines.Err(); err != nil || n < 500 {
		t.Errorf("%d records, %v", n, err)
	}
}

func TestStrictRoot(t *testing.T) {
	for raw, pointer := range map[string]string{
		`{"type":"object"}`: "", `{"type":"object","properties":{"a":{}},"required":["a"]}`: "",
		`{}`: "/type", `{"type":["object"]}`: "/type", `{"type":"Object"}`: "/type", `true`: "/type", `{"type":"array"}`: "/type",
		`{"type":"object","properties":null}`: "/properties", `{"type":"object","properties":[]}`: "/properties",
		`{"type":"object","properties":{"a/b":true}}`: "/properties/a~1b", `{"type":"object","properties":{"a":null}}`: "/properties/a",
		`{"type":"object","required":null}`: "/required", `{"type":"object","required":[1]}`: "/required", `{"type":"object","required":"a"}`: "/required",
		`{"type":"object","additionalProperties":"x"}`: "/additionalProperties", `{"type":"object","$defs":[]}`: "/$defs",
		`{"type":"object","definitions":null}`: "/definitions", `{"type":"object","$schema":5}`: "/$schema",
		`{"type":"object","pattern":"(?i)a"}`: "", // readers do not compile the schemas of inputs
	} {
		got := ""
		if err, ok := schema.MustParse(raw).Strict().(*schema.StrictError); ok {
			got = err.Pointer
		}
		if got != pointer {
			t.Errorf("%s: refused at %q, want %q", raw, got, pointer)
		}
	}
}
