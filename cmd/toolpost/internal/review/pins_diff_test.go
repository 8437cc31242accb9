package review

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
)

func TestWordDifference(t *testing.T) {
	tests := []struct{ before, after, want string }{
		{`"one two three"`, `"one 2 three"`, `"one [-two-]{+2+} three"`},
		{`"one"`, `"one. Two"`, `"one{+. Two+}"`},
		{`"one"`, ``, `[-"one"-]`},
		{``, `true`, `{+true+}`},
		{`"1"`, `1`, `[-"-]1[-"-]`},
		{`["a","b"]`, `["a","c"]`, `["a",[-"b"]-]{+"c"]+}`},
		{`"a"`, `"a{+b+}[-c-]"`, `"[-a-]{+a{\+b+\}[\-c-\]+}"`},
		{`"a b"`, `"a\u200b\nb"`, `"[-a -]{+a\u200b\n+}b"`},
		{`"` + strings.Repeat("w ", 50) + `x ` + strings.Repeat("v ", 50) + `"`, `"` + strings.Repeat("w ", 50) + `y ` + strings.Repeat("v ", 50) + `"`,
			` … w w w w w w [-x-]{+y+} v v v v v v … `},
	}
	for _, tt := range tests {
		if got := wordDifference(&terminal.Page{}, terminal.Diff(words(tt.before), words(tt.after))); got != tt.want {
			t.Errorf("%s and %s: got %s, want %s", tt.before, tt.after, got, tt.want)
		}
	}
}

// The definition of a new tool shows a hidden character of its name.
func TestChangeShowsHiddenName(t *testing.T) {
	var b strings.Builder
	p := terminal.NewPage(&b)
	writeChange(p, &definitionChange{tool: "add", after: []byte(`{"description":"d","name":"add\u200b"}`), isNew: true})
	writeChange(p, &definitionChange{tool: "sub", after: []byte(`{"description":"d","name":"sub"}`), isNew: true})
	if err := p.Flush(); err != nil || !strings.Contains(b.String(), "    name\n      {+\"add\\u200b\"+}") || strings.Count(b.String(), "name") != 1 {
		t.Errorf("got %v %s", err, &b)
	}
}

// Every member of a definition has a path of its own, so that no change hides
// behind another.
func TestFlatten(t *testing.T) {
	got := flatten([]byte(`{"a":{"b":1},"a.b":2,"c":[{"d":"x"},[]],"e":["{"],"f":{},"g\u200b":null,"c[0]":{"d":3},"h":{"i":4,"i":5,"i (2)":6}}`))
	want := map[string]string{
		"a.b": "1", `["a.b"]`: "2", "c[0].d": `"x"`, "c[1]": "[]", "e[0]": `"{"`, "f": "{}", `["g\u200b"]`: "null", `["c[0]"].d`: "3",
		"h.i": "4", "h.i (2)": "5", `h["i (2)"]`: "6",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
