package tools

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolpost/toolpost"
)

// A call that failed says which of its arguments the tool does not have.
func TestUnknownArguments(t *testing.T) {
	const echo = `{"type":"object","properties":{"message":{"type":"string"},"times":{"type":"integer"}}}`
	tests := []struct{ schema, arguments, want string }{
		{echo, `{"mesage":"x"}`, "\nunknown argument \"mesage\"; did you mean message?"},
		{echo, `{"times":1,"zzzzz":1,"mesage":2}`, "\nunknown argument \"mesage\"; did you mean message?\nunknown argument \"zzzzz\"; the arguments are message, times"},
		{echo, `{"message":"x"}`, ""},
		{`{"type":"object"}`, `{"any":1}`, ""},
		{`true`, `{"any":1}`, ""},
		{echo, `[]`, ""},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, unknownArguments(json.RawMessage(tt.schema), json.RawMessage(tt.arguments))); d != "" {
			t.Errorf("%s: %s", tt.arguments, d)
		}
	}
}

func TestOutputParts(t *testing.T) {
	raw := `{"content":[{"type":"resource_link","uri":"file:///a","name":"A"},
		{"type":"resource","resource":{"uri":"x:1","text":"inside"}},
		{"type":"resource","resource":{"uri":"x:2","mimeType":"a/b","blob":"AAEC"}},
		{"type":"new_kind","x":1}]}`
	var out bytes.Buffer
	if err := (&output{to: &out}).write(toolpost.RawResult(json.RawMessage(raw))); err != nil {
		t.Fatal(err)
	}
	want := "[link file:///a] A\ninside\n[resource x:2, a/b, 3 bytes; save it with --out DIR]\n{\"type\":\"new_kind\",\"x\":1}\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
	out.Reset()
	if err := (&output{to: &out}).write(toolpost.RawResult(json.RawMessage(`{"content":[],"structuredContent":{"a":1}}`))); err != nil || out.String() != "{\"a\":1}\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestOutputIsHarmless(t *testing.T) {
	for safe, want := range map[bool]string{true: "a·[31m\tb\n·c\n", false: "a\x1b[31m\tb\n\u009bc\n"} {
		var out bytes.Buffer
		if err := (&output{to: &out, safe: safe}).write(toolpost.TextResult("a\x1b[31m\tb\n\u009bc")); err != nil || out.String() != want {
			t.Errorf("safe %v: %q, %v", safe, out.String(), err)
		}
	}
}

// FuzzPairs checks that arguments are always a JSON object or refused.
func FuzzPairs(f *testing.F) {
	f.Add(`{"properties":{"a":{"type":"integer"}}}`, "a=1", "b=x")
	f.Add(`{"properties":{"a":{"type":["array","null"],"items":{"type":"number"}}}}`, "a=1", "a= 2")
	f.Add(`{"properties":{"a":true}}`, "a=\xff", "=1")
	f.Fuzz(func(t *testing.T, schema, a, b string) {
		raw, err := pairs(json.RawMessage(schema), []string{a, b})
		if err == nil && !json.Valid(raw) {
			t.Errorf("%q", raw)
		}
	})
}
