package toolpost_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
)

// What is read is written as it was.
func TestReadDefinition(t *testing.T) {
	for raw, want := range map[string]string{ // the error; of the output schema, if it begins with "output: "
		`{"name":"a","inputSchema":{"type":"object"}}`: "",
		` {"zeta":1, "name":"a","title":"\u0041","description":"d","inputSchema":{ },"outputSchema":{"type":["object","null"]},"annotations":{"readOnlyHint":true,"odd":1},"_meta":{"k":1.50}} `: "",
		`{"name":"a","name":"b","inputSchema":{}}`:                  "",
		`{"name":7,"inputSchema":{},"annotations":[],"_meta":null}`: "",
		`{"name":"a"}`:                                   "its inputSchema is missing, not a JSON object",
		`{"name":"a","inputSchema":[]}`:                  "its inputSchema is [], not a JSON object",
		`{"name":"a","inputSchema":{"type":"string"}}`:   `its inputSchema is of type "string", want "object"`,
		`{"name":"a","inputSchema":{},"outputSchema":7}`: "output: 7, not a JSON object",
		`[]`: "its inputSchema is missing",
		`{"name":"a","inputSchema":{},"outputSchema":{"type":"` + "array" + `"},"x":[]}`: `output: of type "array"`,
	} {
		var d toolpost.Definition
		bad, err := hidden.ParseDefinition([]byte(raw), &d)
		got := ""
		switch {
		case err != nil:
			got = err.Error()
		case bad != nil:
			got = "output: " + bad.Error()
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%s: got %q, want %q", raw, got, want)
		}
		if got != "" {
			continue
		}
		if strings.Contains(raw, "zeta") && (d.Title != "A" || d.Description != "d" || d.Output == nil || d.Annotations.ReadOnly == nil || string(d.Meta) != `{"k":1.50}`) {
			t.Errorf("%s: got %+v", raw, d)
		}
		if again, err := d.MarshalJSON(); err != nil || strings.Count(raw, `"name"`) == 1 && strings.Contains(raw, `"a"`) && !bytes.Equal(compact(t, again), compact(t, []byte(raw))) {
			t.Errorf("%s: written as %s, %v", raw, again, err)
		}
	}
}

func compact(t *testing.T, raw []byte) []byte {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
