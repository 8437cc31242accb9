package tomledit_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/configedit"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/tomledit"
)

const server = `{"command": "toolpost", "args": ["serve", "--stdio"]}`

// change opens a text, changes it and returns the new text.
func change(t *testing.T, text string, do func(configedit.Document) error) string {
	t.Helper()
	d, err := tomledit.Open([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := do(d); err != nil {
		t.Fatal(err)
	}
	return string(d.Bytes())
}

// What comes back from an older content has the comments that it had there.
func TestTOMLRestore(t *testing.T) {
	const (
		entry = "[mcp_servers.s] # why\ncommand = \"cat\" # the cat\n# the arguments\nargs = [ \"c\" ]\n\n[mcp_servers.s.env]\nA = \"1\" # mine\n"
		rest  = "model = \"x\"\n\n# other\n[other]\nx = 1\n"
	)
	for name, tt := range map[string]struct{ old, now, want string }{
		"taken out":  {"model = \"x\"\n\n" + entry, rest, rest + "\n" + entry},
		"replaced":   {entry, "[mcp_servers.s]\ncommand = \"dog\"\n\n[other]\n", entry + "\n[other]\n"},
		"in parts":   {"[mcp_servers.s]\na = 1 # a\n[o]\nx = 1\n[mcp_servers.s.env]\nb = 1 # b", rest, rest + "\n[mcp_servers.s]\na = 1 # a\n[mcp_servers.s.env]\nb = 1 # b\n"},
		"inline":     {"mcp_servers = { s = { a = 1 } } # lost\n", rest, rest + "\n[mcp_servers.s]\na = 1\n"},
		"line of CR": {strings.ReplaceAll(entry, "\n", "\r\n"), "", strings.ReplaceAll(entry, "\n", "\r\n")},
	} {
		old, err := tomledit.Open([]byte(tt.old))
		if err != nil {
			t.Fatal(err)
		}
		got := change(t, tt.now, func(d configedit.Document) error { return d.Restore(old, "mcp_servers", "s") })
		if got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, tt.want)
		}
	}
}

func TestTOML(t *testing.T) {
	const block = "[mcp_servers.toolpost]\ncommand = \"toolpost\"\nargs = [\"serve\", \"--stdio\"]\n"
	tests := map[string]struct{ before, after string }{
		"empty":        {"", block},
		"after others": {"# mine\nmodel = \"o\" # best\n", "# mine\nmodel = \"o\" # best\n\n" + block},
		"no line end":  {"model = \"o\"", "model = \"o\"\n\n" + block},
		"in its place": {
			"[mcp_servers.toolpost]\nurl = \"http://a\"\n[mcp_servers.toolpost.env]\nA = \"\"\"\n[x]\n\"\"\"\n# next\n[z]\na = 1\n",
			block + "\n# next\n[z]\na = 1\n",
		},
		"odd header": {"[ mcp_servers . \"toolpost\" ] # ours\nurl = 'http://a'\n\n[b]\n", block + "\n[b]\n"},
		"text in strings": {
			"a = '''\n[mcp_servers.toolpost]\n'''\nb = [\n  \"[mcp_servers.toolpost]\", # ]\n]\n",
			"a = '''\n[mcp_servers.toolpost]\n'''\nb = [\n  \"[mcp_servers.toolpost]\", # ]\n]\n\n" + block,
		},
		"line endings": {"a = 1\r\n", "a = 1\r\n\r\n" + strings.ReplaceAll(block, "\n", "\r\n")},
	}
	for name, tt := range tests {
		got := change(t, tt.before, func(d configedit.Document) error {
			return configedit.Set(d, json.RawMessage(server), "mcp_servers", "toolpost")
		})
		if got != tt.after {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, tt.after)
		}
	}
	for _, before := range []string{"mcp_servers = { toolpost = { url = \"a\" } }\n", "mcp_servers.toolpost.url = \"a\"\n", "[mcp_servers]\ntoolpost.url = \"a\"\n"} {
		d, err := tomledit.Open([]byte(before))
		if err != nil {
			t.Fatal(err)
		}
		if err := configedit.Set(d, json.RawMessage(server), "mcp_servers", "toolpost"); err == nil {
			t.Errorf("%q is changed to %q", before, d.Bytes())
		}
		if err := d.Remove("mcp_servers", "toolpost"); err == nil || string(d.Bytes()) != before {
			t.Errorf("%q is changed to %q", before, d.Bytes())
		}
	}
}

// A table that extends an inline one is not TOML, although our parser reads it.
func TestExtendsInlineTable(t *testing.T) {
	for _, text := range []string{"list = {a = {x = 1}}\n", "\"list\" = {}\n", "[list]\nb = {x = 1}\n", "[list]\n b.x = 1\n", "list.b.x = 1\n"} {
		d, err := tomledit.Open([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := configedit.Set(d, json.RawMessage(server), "list", "b"); err == nil || string(d.Bytes()) != text {
			t.Errorf("%s becomes %s", text, d.Bytes())
		}
	}
}

// TestRoundTrips checks on random documents that an edit changes one member and
// keeps every comment, and that removing a new member of a list restores the text.
func TestRoundTrips(t *testing.T) {
	for seed := range uint64(100) {
		newline := []string{"\n", "\r\n"}[seed%2]
		text := document(rand.New(rand.NewPCG(seed, 1)), newline)
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
		if strings.Count(set, "note") != strings.Count(text, "note") || (newline == "\n") == strings.Contains(set, "\r") {
			t.Fatalf("seed %d: comments or line endings of\n%s\nin\n%s", seed, text, set)
		}
		undone := change(t, set, func(d configedit.Document) error { return d.Remove("list", "toolpost") })
		if undone != text {
			t.Fatalf("seed %d: undone is\n%q\nwant\n%q", seed, undone, text)
		}
	}
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	v := map[string]any{}
	if err := toml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return v
}

// document returns a random document as people format it.
func document(r *rand.Rand, newline string) string {
	var b strings.Builder
	for i := range r.IntN(3) {
		b.WriteString(fmt.Sprintf("k%d = ", i) + []string{"1", `"[x] # note"`, "[1, # note" + newline + "]", `'''` + newline + `[list.toolpost]'''`, "2026-01-02"}[r.IntN(5)] + newline)
	}
	for i := range r.IntN(3) {
		b.WriteString(newline + fmt.Sprintf("[list.s%d] # note", i) + newline + `command = "a"` + newline)
	}
	if b.Len() == 0 {
		b.WriteString("# note" + newline)
	}
	return b.String()
}

// Several members are written, in order, or none.
func TestSetAll(t *testing.T) {
	const text, want = "[list.x]\nc = 1 # one\n", "[list.x]\nc = 1 # one\n\n[list.b]\nc = 2\n\n[list.a]\nc = 3\n"
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

func FuzzTOML(f *testing.F) {
	f.Add([]byte("a = \"\"\"\n[x]\"\"\"\n[list.toolpost]\nb = {c = 1}\n"))
	f.Fuzz(func(t *testing.T, data []byte) { roundTrip(t, data) })
}

func roundTrip(t *testing.T, data []byte) {
	d, err := tomledit.Open(data)
	if err != nil {
		return
	}
	before := d.Bytes()
	if err := configedit.Set(d, json.RawMessage(server), "list", "toolpost"); err != nil {
		if !bytes.Equal(d.Bytes(), before) {
			t.Fatalf("refused, but changed %q to %q", before, d.Bytes())
		}
		return
	}
	again, err := tomledit.Open(d.Bytes())
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
}
