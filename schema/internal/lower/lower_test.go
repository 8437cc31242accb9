package lower_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/internal/lower"
)

var update = os.Getenv("TOOLPOST_UPDATE") != "" // "make update" rewrites testdata

// TestShapes: each file of testdata has a schema, rules, and lines of values:
// "read" as the reader writes them, "given" as the original takes them, "seen"
// pointers into those. "want" is what becomes of all of it.
func TestShapes(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			parts := map[string]string{}
			for _, f := range archive.Files {
				parts[f.Name] = string(f.Data)
			}
			got := outcome(t, parts)
			if update {
				last := len(archive.Files) - 1
				if archive.Files[last].Name != "want" {
					t.Fatal("want comes last")
				}
				archive.Files[last].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != parts["want"] {
				t.Errorf("got\n%s\nwant\n%s", got, parts["want"])
			}
		})
	}
}

func outcome(t *testing.T, parts map[string]string) string {
	var rules lower.Rules
	if err := json.Unmarshal([]byte(parts["rules"]), &rules); err != nil {
		t.Fatal("rules: ", err)
	}
	r := lower.Schema(schema.MustParse(parts["schema"]), &rules)
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", r.Schema)
	for _, l := range r.Losses {
		fmt.Fprintf(&b, "%q %s %s: %s\n", l.Pointer, l.Keyword, l.Kind, l.Detail)
	}
	b.WriteByte('\n')
	for line := range strings.Lines(parts["read"]) {
		line = strings.TrimSuffix(line, "\n")
		old, notes := r.Codec.Decode(json.RawMessage(line))
		fmt.Fprintf(&b, "%s is %s\n", line, old)
		for _, note := range notes {
			fmt.Fprintf(&b, "\t%s\n", note)
		}
	}
	for line := range strings.Lines(parts["given"]) {
		line = strings.TrimSuffix(line, "\n")
		written, ok := r.Codec.Encode(json.RawMessage(line))
		if !ok {
			written = json.RawMessage("nothing")
		}
		fmt.Fprintf(&b, "%s is written as %s\n", line, written)
	}
	for line := range strings.Lines(parts["seen"]) {
		line = strings.TrimSuffix(line, "\n")
		fmt.Fprintf(&b, "%s is %s\n", line, r.Codec.Seen(line))
	}
	return b.String()
}

func TestIdentity(t *testing.T) {
	value := json.RawMessage(` {"a": 1} `)
	for _, c := range []*lower.Codec{{}, lower.Schema(schema.MustParse(`{"type":"object"}`), &lower.Rules{}).Codec} {
		old, notes := c.Decode(value)
		if !c.Identity() || string(old) != string(value) || notes != nil || c.Seen("/a") != "/a" {
			t.Errorf("%v: %s %v", c.Identity(), old, notes)
		}
	}
}

// TestNoArguments: some readers want no schema then.
func TestNoArguments(t *testing.T) {
	rules := &lower.Rules{Root: lower.Root{Object: true, OmitEmpty: true}}
	if r := lower.Schema(schema.MustParse(`{"type":"object","properties":{}}`), rules); r.Schema != nil {
		t.Errorf("got %s", r.Schema)
	}
	if r := lower.Schema(schema.MustParse(`{"type":"object","properties":{"a":{}}}`), rules); r.Schema == nil {
		t.Error("it is left out")
	}
}

func TestCounts(t *testing.T) {
	r := lower.Schema(schema.MustParse(`{"type":"object","properties":{
		"a":{"type":["string","null"]},"bb":{"enum":["x","yy"]},"c":{"$ref":"#/$defs/d"},"e":{"type":"array","items":{"$ref":"#/$defs/d"}}},
		"required":["a"],"$defs":{"d":{"type":"object","properties":{"n":{"$ref":"#/$defs/d"},"o":{"type":"object","properties":{"p":{}}}}}}}`), &lower.Rules{})
	want := lower.Counts{Optional: 6, Unions: 1, Properties: 7, EnumValues: 2, Depth: 4, Runes: 12, Bytes: len(r.Schema)}
	if got := lower.CountsOf(r.Schema); got != want {
		t.Errorf("got %+v, want %+v\n%s", got, want, r.Schema)
	}
}

func TestLimits(t *testing.T) {
	for limits, want := range map[lower.Limits]string{
		{Properties: 2}: "3 properties, the limit is 2",
		{EnumValues: 2}: "",
		{Runes: 4}:      "5 characters in names and values, the limit is 4",
		{Properties: 3}: "",
		{Bytes: 30}:     "55 bytes, the limit is 30",
	} {
		r := lower.Schema(schema.MustParse(`{"type":"object","properties":{"a":{},"b":{"enum":["v"]},"c":{"enum":["w"]}}}`), &lower.Rules{Limits: limits})
		got := ""
		for _, l := range r.Losses {
			if l.Kind == lower.Rejected && got == "" {
				got = l.Detail
			}
		}
		if got != want {
			t.Errorf("%+v: got %q, want %q", limits, got, want)
		}
	}
}

func TestDepth(t *testing.T) {
	deep := `{"type":"string"}`
	for range 8 {
		deep = `{"type":"object","properties":{"a":` + deep + `}}`
	}
	r := lower.Schema(schema.MustParse(deep), &lower.Rules{Limits: lower.Limits{Depth: 3}})
	if depth := lower.CountsOf(r.Schema).Depth; depth > 3 {
		t.Errorf("%d levels: %s", depth, r.Schema)
	}
	given := json.RawMessage(`{"a":{"a":{"a":{"a":{}}}}}`)
	written, ok := r.Codec.Encode(given)
	if back, _ := r.Codec.Decode(written); !ok || string(back) != string(given) {
		t.Errorf("%s %v comes back as %s", written, ok, back)
	}
}

func TestPatternFits(t *testing.T) {
	for _, test := range []struct{ pattern, kinds string }{
		{`^a$`, "all re2 simple anchored whole"},
		{`a`, "all re2 simple"},
		{`^a\$`, "all re2 simple"},
		{`^\d$`, "all re2 simple whole"},
		{`^\p{L}$`, "all re2 simple"},
		{`^[\b(?=]$`, "all re2 simple anchored whole"},
		{`\bfoo`, "all re2"},
		{`^\bfoo$`, "all re2"},
		{`^a{101}$`, "all re2 whole"},
		{`^a{1,100}$`, "all re2 simple anchored whole"},
		{`^a|b$`, "all re2 simple"},
		{`^(a|b)$`, "all re2 simple anchored whole"},
		{`^[a|(]\|b$`, "all re2 simple anchored whole"},
		{`^(?=a)$`, "all"},
		{`^(?i)a$`, "all re2"},
		{`(a)\1`, "all"},
		{`(?<!b)c`, "all"},
		{`(`, ""},
	} {
		got := ""
		for _, kind := range []string{"", "re2", "simple", "anchored", "whole"} {
			if (&lower.Rules{Pattern: kind}).PatternFits(test.pattern) {
				if kind == "" {
					kind = "all"
				}
				got += " " + kind
			}
		}
		if got = strings.TrimPrefix(got, " "); got != test.kinds {
			t.Errorf("%s: got %q, want %q", test.pattern, got, test.kinds)
		}
	}
}

func ExampleSchema() {
	s := schema.MustParse(`{"type":"object","properties":{"id":{"type":["integer","string"]}},"required":["id"]}`)
	r := lower.Schema(s, &lower.Rules{Union: lower.Union{None: true}})
	fmt.Println(string(r.Schema))
	old, _ := r.Codec.Decode(json.RawMessage(`{"id":"7"}`))
	fmt.Println(string(old))
	// Output:
	// {"type":"object","properties":{"id":{"type":"string","description":"Written as text: a number or a text."}},"required":["id"]}
	// {"id":7}
}
