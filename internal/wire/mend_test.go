package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// Definitions that are valid, with every member that MCP knows and others.
var validDefinitions = map[Kind]string{
	KindTool: `{ "name":"t","title":"T","description":"d","inputSchema":{"type":"object","$schema":"x","properties":{"a":{"type":"string"}},"required":["a"],"x":null},` +
		`"outputSchema":{"type":"object","properties":{"a":{}},"required":[],"oneOf":[]},"annotations":{"title":"T","readOnlyHint":true,"destructiveHint":false,"idempotentHint":false,"openWorldHint":true,"x":null},` +
		`"icons":[{"src":"s","mimeType":"m","sizes":["1x1"],"theme":"dark","x":null}],"execution":{"taskSupport":"optional"},"_meta":{"a":null,"b":[null]},"x":null}`,
	KindPrompt: `{"name":"p","title":"T","description":"d","arguments":[{"name":"a","title":"A","description":"d","required":true}, {"name":"b"}],"icons":[],"_meta":{}}`,
	KindResource: `{"uri":"x://1","name":"n","title":"T","description":"d","mimeType":"m","size":12,"annotations":{"audience":["user","assistant"],"priority":0.5,"lastModified":"2025-01-12T15:00:58.5+01:00"},` +
		`"icons":[{"src":"s"}],"_meta":{}}`,
	KindTemplate: `{"uriTemplate":"x://{a}","name":"n","title":"T","description":"d","mimeType":"m","annotations":{"lastModified":"2025-01-12T15:00Z"},"icons":[{"src":"s"}],"_meta":{}}`,
}

var kinds = []Kind{KindTool, KindPrompt, KindResource, KindTemplate}

func TestMendKeepsWhatIsValid(t *testing.T) {
	for _, kind := range kinds {
		for _, version := range Versions {
			raw := json.RawMessage(validDefinitions[kind])
			got, reasons, err := Mend(raw, kind, version)
			if err != nil || len(reasons) > 0 || &got[0] != &raw[0] || len(got) != len(raw) {
				t.Errorf("%s, %s: got %s, %q, %v", kind, version, got, reasons, err)
			}
		}
	}
}

func TestMend(t *testing.T) {
	tool := func(members string) string { return `{"name":"t","inputSchema":{"type":"object"}` + members + `}` }
	for _, tt := range []struct {
		kind      Kind
		raw, want string // "" if it is left out
		reason    string
	}{
		{KindTool, tool(`,"description":null,"title":5,"annotations":[],"icons":{},"_meta":null,"execution":null,"outputSchema":null`), tool(""), "description is left out"},
		{KindTool, tool(`,"annotations":{"title":null,"readOnlyHint":"yes","openWorldHint":true}`), tool(`,"annotations":{"openWorldHint":true}`), "annotations.readOnlyHint is left out"},
		{KindTool, tool(`,"execution":{"taskSupport":"maybe"}`), tool(`,"execution":{}`), "forbidden or optional or required"},
		{KindTool, tool(`,"icons":[null,{"src":null},{"src":"s","mimeType":null,"sizes":"any","theme":"grey"}]`), tool(`,"icons":[{"src":"s"}]`), "icons[1] is left out: it has no valid src"},
		{KindTool, tool(`,"description":"a","descripti\u006fn":"b"`), tool(`,"description":"a"`), "same name"},
		{KindTool, tool(`,"_meta":{"a":1,"a":2}`), tool(`,"_meta":{"a":2}`), "same name"},
		{KindTool, tool(`,"description":"cut \ud83d"`), tool(`,"description":"cut \ufffd"`), "Unicode"},
		{KindTool, tool(",\"description\":\"\xff\""), tool(",\"description\":\"\ufffd\""), "Unicode"},
		{KindTool, `{"name":"t","inputSchema":null}`, `{"name":"t","inputSchema":{"type":"object"}}`, "inputSchema"},
		{KindTool, `{"name":"t","inputSchema":{}}`, `{"name":"t","inputSchema":{"type":"object"}}`, "inputSchema has no valid type"},
		{KindTool, `{"name":"t","inputSchema":{"type":["object","null"],"required":"a","properties":[]}}`, `{"name":"t","inputSchema":{"type":"object"}}`, ""},
		{KindTool, `{"name":"t","inputSchema":{"type":"object","properties":{"a":true,"b":false,"c":null},"required":["a",null]}}`,
			`{"name":"t","inputSchema":{"type":"object","properties":{"a":{},"b":{"not":{}},"c":{}},"required":["a"]}}`, "inputSchema.properties.a is replaced"},
		{KindTool, tool(`,"outputSchema":{"properties":{}}`), tool(`,"outputSchema":{"properties":{},"type":"object"}`), ""},
		{KindTool, tool(`,"outputSchema":{"anyOf":[{}]}`), tool(""), "outputSchema is left out"},
		{KindTool, tool(`,"outputSchema":{"type":["object","null"]}`), tool(""), ""},
		{KindTool, `{"name":null,"inputSchema":{"type":"object"}}`, "", "it has no valid name"},
		{KindTool, `[]`, "", "not an object"},
		{KindTool, `{"name":"t"`, "", ""},
		{KindPrompt, `{"name":"p","description":null,"title":[],"arguments":null}`, `{"name":"p"}`, ""},
		{KindPrompt, `{"name":"p","arguments":[{"name":"a","description":null,"required":"true"},{"description":"x"},5]}`, `{"name":"p","arguments":[{"name":"a"}]}`, "arguments[2] is left out"},
		{KindPrompt, `{"name":"p","arguments":{}}`, `{"name":"p"}`, ""},
		{KindResource, `{"uri":"x:1","description":null,"mimeType":null,"size":"12","annotations":null}`, `{"uri":"x:1","name":"x:1"}`, `has no valid name, which is now "x:1"`},
		{KindResource, `{"uri":"x:1","name":7,"size":-1,"annotations":{"priority":5,"lastModified":"yesterday","audience":["user","robot"]}}`, `{"uri":"x:1","annotations":{"audience":["user"]},"name":"x:1"}`, "a number from 0 to 1"},
		{KindResource, `{"uri":"x:1","name":"n","size":1.2e3,"annotations":{"lastModified":"2025-01-12"}}`, `{"uri":"x:1","name":"n","size":1200,"annotations":{"lastModified":"2025-01-12T00:00:00Z"}}`, "size is replaced"},
		{KindResource, `{"uri":"x:1","name":"n","size":1e400,"annotations":{"lastModified":"2025-01-12T5:00:00Z","priority":1e-1}}`, `{"uri":"x:1","name":"n","annotations":{"priority":1e-1}}`, ""},
		{KindResource, `{"uri":"notes/1","name":"n"}`, `{"uri":"toolpost-uri:notes/1","name":"n"}`, "uri is replaced"},
		{KindResource, `{"uri":"git://a:main/x"}`, `{"uri":"toolpost-uri:git://a:main/x","name":"git://a:main/x"}`, "a URI that clients can parse"},
		{KindResource, `{"uri":"","name":"n"}`, "", "it has no valid uri"},
		{KindResource, `{"name":"n"}`, "", "it has no valid uri"},
		{KindTemplate, `{"uriTemplate":"{+a}","description":null,"mimeType":1}`, `{"uriTemplate":"{+a}","name":"{+a}"}`, ""},
		{KindTemplate, `{"uriTemplate":null,"name":"n"}`, "", "it has no valid uriTemplate"},
	} {
		got, reasons, err := Mend(json.RawMessage(tt.raw), tt.kind, LastSession)
		why := strings.Join(reasons, "\n") + fmt.Sprint(err)
		if string(got) != tt.want || (tt.want == "") != (err != nil) || !strings.Contains(why, tt.reason) {
			t.Errorf("%s: got %s, want %s; %s", tt.raw, got, tt.want, why)
		}
	}
}

// A schema that MCP allows since 2026-07-28 stays for clients of that version.
func TestMendByVersion(t *testing.T) {
	raw := json.RawMessage(`{"name":"t","inputSchema":{"type":"object","properties":{"a":true}},"outputSchema":{"type":"array"}}`)
	if got, reasons, err := Mend(raw, KindTool, Stateless); err != nil || reasons != nil || &got[0] != &raw[0] {
		t.Errorf("got %s, %q, %v", got, reasons, err)
	}
	if got, _, err := Mend(raw, KindTool, LastSession); err != nil || string(got) != `{"name":"t","inputSchema":{"type":"object","properties":{"a":{}}}}` {
		t.Errorf("got %s, %v", got, err)
	}
}

// Clients since 2026-07-28 do not parse URIs.
func TestMendURIByVersion(t *testing.T) {
	raw := json.RawMessage(`{"uri":"git://repo:main/x","name":"n"}`)
	if got, reasons, err := Mend(raw, KindResource, Stateless); err != nil || reasons != nil || &got[0] != &raw[0] {
		t.Errorf("got %s, %q, %v", got, reasons, err)
	}
}

// Whatever is done to one member of a valid definition, the definition that
// clients get is valid.
func TestMendDamage(t *testing.T) {
	for _, kind := range kinds {
		raw := []byte(validDefinitions[kind])
		tree, _ := jsontree.Parse(raw, 100)
		damage(tree, func(v *jsontree.Value) {
			for _, by := range []string{"null", "true", "5", "-1.5", `""`, `"\ud800"`, "[]", "[null]", "{}", `{"a":null,"a":1}`, `[{"name":null}]`} {
				damaged := slices.Concat(raw[:v.Start], []byte(by), raw[v.Start+len(v.Raw):])
				for _, version := range []string{LastSession, Stateless} {
					checkMended(t, damaged, kind, version)
				}
			}
		})
	}
}

// damage calls f for each value in a tree but the tree itself.
func damage(v *jsontree.Value, f func(*jsontree.Value)) {
	for _, kid := range v.Kids {
		f(kid)
		damage(kid, f)
	}
}

func checkMended(t *testing.T, raw []byte, kind Kind, version string) {
	t.Helper()
	before := bytes.Clone(raw)
	got, reasons, err := Mend(raw, kind, version)
	if !bytes.Equal(raw, before) {
		t.Fatalf("%q is changed in place", before)
	}
	if err != nil {
		return
	}
	if !jsontext.Value(got).IsValid() || !utf8.Valid(got) {
		t.Fatalf("%q is mended as %q, which is not JSON", raw, got)
	}
	again, more, err := Mend(got, kind, version)
	if err != nil || more != nil || &again[0] != &got[0] || len(again) != len(got) {
		t.Fatalf("%q is mended as %q, and that as %q: %q, %v", raw, got, again, more, err)
	}
	if (reasons == nil) != bytes.Equal(got, bytes.TrimSpace(raw)) && (reasons == nil) != bytes.Equal(got, raw) {
		t.Fatalf("%q is mended as %q, because of %q", raw, got, reasons)
	}
	for _, field := range shapes()[kind].fields {
		if value := Get(got, field.name); field.required && value == nil || value != nil && field.in(version) && !strings.ContainsRune(field.begins, rune(value[0])) {
			t.Fatalf("%q is mended as %q, whose %s is not valid", raw, got, field.name)
		}
	}
}

// The result of Mend is valid JSON that Mend returns again.
func FuzzMend(f *testing.F) {
	for i, kind := range kinds {
		f.Add([]byte(validDefinitions[kind]), uint8(i))
	}
	f.Add([]byte(`{"uri":"x:1","uri":null,"size":1e3,"name":"\ud83d","annotations":{"audience":[5],"lastModified":"2025-01-12"}}`), uint8(2))
	f.Fuzz(func(t *testing.T, raw []byte, of uint8) {
		for _, version := range []string{LastSession, Stateless} {
			checkMended(t, raw, kinds[int(of)%len(kinds)], version)
		}
	})
}
