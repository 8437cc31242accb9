package lower_test

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"

	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/internal/lower"
)

func TestStrictOutput(t *testing.T) {
	const object = `{"type":"object","properties":{"a":{`
	for _, test := range []struct{ raw, want string }{ // "" is left out
		{`{"type":"object","properties":{"a":{"type":"string","pattern":"^a$"}}}`, "same"},
		{object + `"type":"string","pattern":"(?i)abc"}}}`, object + `"type":"string","description":"Pattern: (?i)abc ."}}}`},
		{object + `"nullable":true}}}`, object + `}}}`},
		{object + `"type":"string","nullable":true}}}`, "same"}, // the validators of these readers know it
		{object + `"type":"any"}}}`, object + `}}}`},
		{object + `"type":"string","enum":[]}}}`, object + `"type":"string"}}}`},
		{object + `"enum":[]}}}`, object + `}}}`},
		{object + `"en\u0075m" : [ ] ,"type":"string"}}}`, object + `"type":"string"}}}`},
		{object + `"enum":[]},"b":{"type":"object","default":{"enum":[]},"properties":{"c":{"description":"\"enum\":[]"}}}}}`,
			object + `},"b":{"type":"object","properties":{"c":{"description":"\"enum\":[]"}},"default":{"enum":[]}}}}`},
		{object + `"type":"number","minimum":0,"exclusiveMinimum":true}}}`, object + `"type":"number","exclusiveMinimum":0}}}`},
		{object + `"type":"string","required":true}}}`, object + `"type":"string"}},"required":["a"]}`},
		{object + `"$ref":"#/$defs/gone"}}}`, object + `}}}`},
		{object + `"$ref":"https://example.com/x.json"}}}`, object + `}}}`},
		{object + `"$defs":{"b":{"type":"string"}},"$ref":"#/$defs/b"}}}`, object + `}}}`},
		{`{"type":"object","properties":{"a":true}}`, object + `}}}`},
		{`{"type":"object","patternProperties":{"(?i)a":{"type":"string"}},"additionalProperties":false}`,
			`{"type":"object","description":"The names of other members match patterns: {\"(?i)a\":{\"type\":\"string\"}}."}`},
		{`{"type":"object","properties":{"a":{"not":{"pattern":"(?i)a"}}}}`,
			object + `"type":["boolean","number","string","array","object","null"],"description":"Must also hold: not {\"pattern\":\"(?i)a\"}."}}}`},
		{object + `"type":"array","items":[{"type":"string"}]}}}`, object + `"type":"array"}}}`},
		{`{"type":"object","$schema":"http://json-schema.org/draft-04/schema#","id":"x"}`, `{"type":"object"}`},
		{`{"type":"array","items":{"type":"string"}}`, ""},
		{`{"type":"object","$ref":"#"}`, `{"type":"object"}`},
	} {
		s, losses := lower.StrictOutput(schema.MustParse(test.raw))
		got := ""
		if s != nil {
			got = string(s.Raw())
		}
		if test.want == "same" {
			test.want = test.raw
			if losses != nil {
				t.Errorf("%s: lost %v", test.raw, losses)
			}
		}
		if got != test.want {
			t.Errorf("%s\n\tgot  %s\n\twant %s\n\t%v", test.raw, got, test.want, losses)
		}
	}
}

func TestStrictInput(t *testing.T) {
	for _, test := range []struct{ raw, want string }{ // "" is refused
		{`{"type":"object","properties":{"a":{"pattern":"(?i)a"}}}`, "same"},
		{`{}`, `{"type":"object"}`},
		{`true`, `{"type":"object"}`},
		{`{"type":["object","null"],"properties":{"a":{"type":"string"}}}`, `{"type":"object","properties":{"a":{"type":"string"}}}`},
		{`{"type":"object","properties":null,"required":null}`, `{"type":"object"}`},
		{`{"type":"object","properties":{"a":true}}`, `{"type":"object","properties":{"a":{}}}`},
		{`{"type":"object","additionalProperties":"x","$defs":[],"$schema":5,"definitions":null}`, `{"type":"object"}`},
		{`{"type":"array"}`, ""},
		{`false`, ""},
	} {
		s, _ := lower.StrictInput(schema.MustParse(test.raw))
		got := ""
		if s != nil {
			got = string(s.Raw())
		}
		if test.want == "same" {
			test.want = test.raw
		}
		if got != test.want {
			t.Errorf("%s\n\tgot  %s\n\twant %s", test.raw, got, test.want)
		}
	}
}

// TestStrictOutputIsRepaired counts the schemas of the recorded corpus that are
// left out.
func TestStrictOutputIsRepaired(t *testing.T) {
	file, err := os.Open("../../testdata/strict.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	refused, left := 0, 0
	for lines.Scan() {
		var record struct{ Schema json.RawMessage }
		if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
			t.Fatal(err)
		}
		before := schema.MustParse(string(record.Schema))
		after, _ := lower.StrictOutput(before)
		if before.StrictOutput() == nil {
			if after != before {
				t.Errorf("%s was changed", record.Schema)
			}
			continue
		}
		if refused++; after == nil {
			if left++; before.IsObject() {
				t.Logf("left out: %s: %v", record.Schema, before.StrictOutput())
			}
		} else if err := after.StrictOutput(); err != nil {
			t.Errorf("%s: %v", after.Raw(), err)
		}
	}
	if refused < 100 || left > refused/4 {
		t.Errorf("%d of %d refused schemas are left out", left, refused)
	}
}
