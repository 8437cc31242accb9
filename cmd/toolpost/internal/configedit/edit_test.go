package configedit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/configedit"
)

const server = `{"command": "toolpost", "args": ["serve", "--stdio"]}`

// change opens a text, changes it and returns the new text.
func change(t *testing.T, text string, do func(configedit.Document) error) string {
	t.Helper()
	d, err := configedit.Open([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := do(d); err != nil {
		t.Fatal(err)
	}
	return string(d.Bytes())
}

func TestSetJSON(t *testing.T) {
	const entry = "\"b\": {\n      \"x\": 1\n    }"
	tests := map[string]struct{ before, after string }{
		"empty file":      {"", "{\n  \"list\": {\n    \"b\": {\n      \"x\": 1\n    }\n  }\n}\n"},
		"only a comment":  {"// mine", "// mine\n{\n  \"list\": {\n    \"b\": {\n      \"x\": 1\n    }\n  }\n}\n"},
		"no list":         {"{\n  \"a\": 1 // one\n}\n", "{\n  \"a\": 1, // one\n  \"list\": {\n    " + entry + "\n  }\n}\n"},
		"empty list":      {`{"list": {}}`, "{\"list\": {\n    " + entry + "\n  }}"},
		"trailing commas": {"{\n  \"list\": {\n    \"a\": 1,\n  },\n}\n", "{\n  \"list\": {\n    \"a\": 1,\n    " + entry + ",\n  },\n}\n"},
		"comments":        {"{\n  \"list\": {\n    \"a\": 1, // one\n    // end\n  }\n}\n", "{\n  \"list\": {\n    \"a\": 1, // one\n    // end\n    " + entry + ",\n  }\n}\n"},
		"line endings":    {"{\r\n  \"list\": {}\r\n}\r\n", "{\r\n  \"list\": {\r\n    \"b\": {\r\n      \"x\": 1\r\n    }\r\n  }\r\n}\r\n"},
		"tabs":            {"{\n\t\"list\": {\n\t\t\"a\": 1\n\t}\n}", "{\n\t\"list\": {\n\t\t\"a\": 1,\n\t\t\"b\": {\n\t\t\t\"x\": 1\n\t\t}\n\t}\n}"},
		"byte order mark": {"\ufeff{\"list\": {}}", "\ufeff{\"list\": {\n    " + entry + "\n  }}"},
		"four spaces":     {"{\n    \"z\": 0\n}", "{\n    \"z\": 0,\n    \"list\": {\n        \"b\": {\n            \"x\": 1\n        }\n    }\n}"},
		"other value":     {"{\"list\": {\n  /* before */ \"b\": {\"y\": 2} /* after */ , \"c\": 1}}", "{\"list\": {\n  /* before */ \"b\": {\n    \"x\": 1\n  } /* after */ , \"c\": 1}}"},
	}
	for name, tt := range tests {
		got := change(t, tt.before, func(d configedit.Document) error { return configedit.Set(d, json.RawMessage(`{"x":1}`), "list", "b") })
		if got != tt.after {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, tt.after)
		}
	}
}

func TestRemoveJSON(t *testing.T) {
	tests := map[string]struct{ before, after string }{
		"only member":    {"{\"list\": {\n    \"b\": 1\n  }}", `{"list": {}}`},
		"first member":   {"{\"list\": {\n  // b\n  \"b\": 1, // one\n  \"c\": 2}}", "{\"list\": {\n  // b // one\n  \"c\": 2}}"},
		"last member":    {"{\"list\": {\n  \"a\": 1, // one\n  \"b\": 2\n}}", "{\"list\": {\n  \"a\": 1 // one\n}}"},
		"trailing comma": {"{\"list\": {\n  \"a\": 1,\n  \"b\": 2,\n}}", "{\"list\": {\n  \"a\": 1,\n}}"},
		"no member":      {`{"list": {"c": 1}}`, `{"list": {"c": 1}}`},

		"line comment before":    {"{\"list\": {\n  // b\n  \"b\": 1, \"c\": 2}}", "{\"list\": {\n  // b\n \"c\": 2}}"},
		"line comment, last":     {"{\"list\": {\"a\": 1,\n  // b\n  \"b\": 1}}", "{\"list\": {\"a\": 1\n  // b\n}}"},
		"line comment, only":     {"{\"list\": { // b\n  \"b\": 1}}", "{\"list\": { // b\n}}"},
		"comma first":            {"{\"list\": {\n  \"b\": 1 // b\n  /* c */, \"c\": 2}}", "{\"list\": { // b\n  /* c */ \"c\": 2}}"},
		"block comment":          {`{"list": {"a": 1 /* a */, "b": 2 /* b */, /* c */ "c": 3}}`, `{"list": {"a": 1 /* a */, /* b */ /* c */ "c": 3}}`},
		"comment before a comma": {"{\"list\": {\"a\": 1 // a\n, \"b\": 2 /* b */, }}", "{\"list\": {\"a\": 1 // a\n, /* b */ }}"},
		"no list":                {`{}`, `{}`},
	}
	for name, tt := range tests {
		got := change(t, tt.before, func(d configedit.Document) error { return d.Remove("list", "b") })
		if got != tt.after {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, tt.after)
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, text := range []string{"[]", "{", `{"list": 1`, "\xff", strings.Repeat("[", 600), "// a\n{} {}"} {
		if _, err := configedit.Open([]byte(text)); err == nil {
			t.Errorf("%.20q is opened", text)
		}
	}
	for _, text := range []string{`{"list": []}`, `{"list": {}, "list": {}}`, `{"list": {"b": 1, "b": 2}}`, `{"list": null}`} {
		d, err := configedit.Open([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := configedit.Set(d, json.RawMessage("{}"), "list", "b"); err == nil || string(d.Bytes()) != text {
			t.Errorf("%s becomes %s", text, d.Bytes())
		}
	}
}

// TestRoundTrips checks on random documents that an edit changes one member and
// keeps every comment, and that removing a new member of a list restores the text.
func TestRoundTrips(t *testing.T) {
	for seed := range uint64(400) {
		g := &generator{rand.New(rand.NewPCG(seed, 1)), []string{"\n", "\r\n"}[seed%2], []string{"  ", "\t", "    "}[seed%3]}
		text := g.json(0)
		set := change(t, text, func(d configedit.Document) error {
			return configedit.Set(d, json.RawMessage(server), "list", "toolpost")
		})
		want := decode(t, text)
		list, _ := want["list"].(map[string]any)
		if list == nil {
			list = map[string]any{}
			want["list"] = list
		}
		list["toolpost"] = map[string]any{"command": "toolpost", "args": []any{"serve", "--stdio"}}
		if got := decode(t, set); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: got %v, want %v of\n%s", seed, got, want, set)
		}
		if strings.Count(set, "note") != strings.Count(text, "note") || (g.newline == "\n") == strings.Contains(set, "\r") {
			t.Fatalf("seed %d: comments or line endings of\n%s\nin\n%s", seed, text, set)
		}
		undone := change(t, set, func(d configedit.Document) error { return d.Remove("list", "toolpost") })
		if had := len(list) > 1; had && undone != text {
			t.Fatalf("seed %d: undone is\n%q\nwant\n%q", seed, undone, text)
		}
	}
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	v := map[string]any{}
	standard, err := hujson.Standardize([]byte(text))
	if err == nil {
		err = json.Unmarshal(standard, &v)
	}
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return v
}

// A generator writes random documents as people format them.
type generator struct {
	*rand.Rand
	newline, unit string
}

func (g *generator) json(depth int) string {
	var b strings.Builder
	b.WriteString("{")
	n, trailing := 1+g.IntN(4), g.IntN(2) == 0
	for i := range n {
		name := fmt.Sprintf("k%d", i)
		if i == n-1 && depth == 0 {
			name = "list"
		}
		b.WriteString(g.comment() + g.newline + strings.Repeat(g.unit, depth+1) + fmt.Sprintf("%q: ", name))
		switch {
		case name == "list" || depth < 3 && g.IntN(3) == 0:
			b.WriteString(g.json(depth + 1))
		default:
			b.WriteString([]string{"1", `"// note }"`, "null", "[1, 2]", "1e3", `"\u00e9"`}[g.IntN(6)])
		}
		if trailing || i < n-1 {
			b.WriteString([]string{"", "", " /* note */", " // note" + g.newline}[g.IntN(4)] + ",")
		}
	}
	return b.String() + g.comment() + g.newline + strings.Repeat(g.unit, depth) + "}"
}

func (g *generator) comment() string {
	return []string{"", "", " // note", " /* note */"}[g.IntN(4)]
}

func FuzzJSON(f *testing.F) {
	for _, text := range []string{
		"{\"list\": {\"a\": 1, // c\n},}", "{\"list\": {// c\n\"toolpost\": 1, \"c\": 2}}",
		"{\"list\": {\"a\": 1 /* a */, // c\n\"toolpost\": 1}}", "{\"list\": { /* c */ \"toolpost\": 1 /* d */, // e\n}}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) { roundTrip(t, data) })
}

func roundTrip(t *testing.T, data []byte) {
	d, err := configedit.Open(data)
	if err != nil {
		return
	}
	before := d.Bytes()
	first := others(t, before)
	if err := configedit.Set(d, json.RawMessage(server), "list", "toolpost"); err != nil {
		if !bytes.Equal(d.Bytes(), before) {
			t.Fatalf("refused, but changed %q to %q", before, d.Bytes())
		}
		return
	}
	again, err := configedit.Open(d.Bytes())
	if err != nil {
		t.Fatalf("%q became %q: %v", data, d.Bytes(), err)
	}
	if got, err := again.Get("list", "toolpost"); err != nil || !strings.Contains(string(got), "--stdio") {
		t.Fatalf("%q became %q: %s %v", data, d.Bytes(), got, err)
	}
	if err := again.Remove("list", "toolpost"); err != nil {
		t.Fatalf("%q: %v", again.Bytes(), err)
	}
	if got, _ := again.Get("list", "toolpost"); got != nil {
		t.Fatalf("%q still has it", again.Bytes())
	}
	if got := others(t, again.Bytes()); !reflect.DeepEqual(got, first) {
		t.Fatalf("%q became %q", data, again.Bytes())
	}
}

// others returns the values of JSON without the member that roundTrip changes, and
// without the list if that has no other members.
func others(t *testing.T, data []byte) map[string]any {
	text := strings.TrimPrefix(string(data), "\ufeff")
	if _, err := hujson.Parse([]byte(text)); err != nil {
		return map[string]any{} // a file of comments
	}
	all := decode(t, text)
	if list, ok := all["list"].(map[string]any); ok {
		if delete(list, "toolpost"); len(list) == 0 {
			delete(all, "list")
		}
	}
	return all
}

// Several members are written, in order, or none.
func TestSetAll(t *testing.T) {
	const text = "{\n  \"list\": {\n    \"x\": 1 // one\n  }\n}\n"
	const want = "{\n  \"list\": {\n    \"x\": 1, // one\n    \"b\": {\n      \"c\": 2\n    },\n    \"a\": {\n      \"c\": 3\n    }\n  }\n}\n"
	members := []configedit.Member{{Name: "b", Value: json.RawMessage(`{"c": 2}`)}, {Name: "a", Value: json.RawMessage(`{"c": 3}`)}}
	if got := change(t, text, func(d configedit.Document) error { return d.SetAll(members, "list") }); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	members = append(members, configedit.Member{Name: "broken", Value: json.RawMessage(`{`)})
	got := change(t, text, func(d configedit.Document) error {
		if err := d.SetAll(members, "list"); err == nil {
			t.Error("a broken value is written")
		}
		return nil
	})
	if got != text {
		t.Errorf("after an error, got\n%s", got)
	}
}
