package configedit_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/configedit"
)

// TestRemoveKeepsOthers checks on random documents that removing a member keeps the
// values of the others, and the comments that are not in it.
func TestRemoveKeepsOthers(t *testing.T) {
	for seed := range uint64(400) {
		g := &generator{rand.New(rand.NewPCG(seed, 2)), []string{"\n", "\r\n"}[seed%2], "  "}
		text := g.json(0)
		want := decode(t, text)
		for name := range want {
			got := change(t, text, func(d configedit.Document) error { return d.Remove(name) })
			if strings.Count(got, "note") != strings.Count(text, "note")-notesIn(t, text, name) {
				t.Fatalf("seed %d: without %q\n%s\nis\n%s", seed, name, text, got)
			}
			others := maps.Clone(want)
			delete(others, name)
			if got := decode(t, got); !reflect.DeepEqual(got, others) {
				t.Fatalf("seed %d: got %v, want %v", seed, got, others)
			}
		}
	}
}

// notesIn counts the notes between the name of a member and the end of its value.
func notesIn(t *testing.T, text, name string) int {
	t.Helper()
	v, err := hujson.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range v.Value.(*hujson.Object).Members {
		if m.Name.Value.(hujson.Literal).String() == name {
			m.Name.BeforeExtra, m.Value.AfterExtra = nil, nil
			return strings.Count(string(hujson.Value{Value: &hujson.Object{Members: []hujson.ObjectMember{m}}}.Pack()), "note")
		}
	}
	t.Fatalf("no member %q", name)
	return 0
}

// TestTooDeep checks that quotes in comments and long strings do not hide brackets.
// The parsers recurse, and a stack that overflows ends the process.
func TestTooDeep(t *testing.T) {
	const levels = 10_000
	deep := strings.Repeat("[", levels) + strings.Repeat("]", levels)
	for _, text := range []string{
		deep,
		"{ // \"\n\"a\": " + deep + "}",
		"{ /* \" */ \"a\": " + deep + "}",
		"{\"b\": \"\\\\\", /* \"\n */\"a\": " + deep + "}",
	} {
		if _, err := configedit.Open([]byte(text)); err == nil || !strings.Contains(err.Error(), "nested") {
			t.Errorf("%.30q: %v", text, err)
		}
	}
	for _, before := range []string{
		"# \"\nb = ",
		"a = '\"'\nb = ",
		"a = '''\"\n'''\nb = ",
		"a = \"\"\" ' \"\"\"\nb = ",
		`a = ["""\\"""""",`, // the parser takes six quotes after a backslash
	} {
		end := map[bool]string{true: "]"}[strings.HasSuffix(before, ",")]
		if _, err := configedit.DecodeTOML([]byte(before + deep + end)); !errors.Is(err, configedit.ErrExpands) {
			t.Errorf("%q: %v", before, err)
		}
	}
	if _, err := configedit.Open([]byte("// " + deep + "\n{\"a\": \"" + deep + "\"/*" + deep + "*/}")); err != nil {
		t.Errorf("brackets in strings and comments: %v", err)
	}
	if _, err := configedit.DecodeTOML([]byte("# " + deep + "\na = '" + deep + "'\n")); err != nil {
		t.Errorf("brackets in strings and comments of TOML: %v", err)
	}
}
