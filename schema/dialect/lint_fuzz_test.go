package dialect_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/accept"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// FuzzLint lints any schema for all readers: twice the same is found, and it
// is found at places that exist.
func FuzzLint(f *testing.F) {
	for _, s := range accept.Torture() {
		f.Add([]byte(s.Input()), "tool", "A tool.")
	}
	for _, c := range ruleCases {
		f.Add([]byte(c.bad), "a.b", "a (b)\n_")
	}
	f.Add([]byte(`{"type":"object","properties":{"a/b~c":{"$ref":"#/properties/a~1b~0c"},"":{"$ref":"#/x/0"}},"x":[{"type":["null"]}]}`), "", "")
	dialects := dialect.All()
	f.Fuzz(func(t *testing.T, raw []byte, name, description string) {
		s, err := schema.Parse(raw)
		if err != nil {
			t.Skip()
		}
		twice := !jsontext.Value(raw).IsValid(jsontext.AllowInvalidUTF8(true)) // a pointer may name either member
		one := tool(name, s)
		one.Description, one.Output = description, s
		list := []*toolpost.Tool{one, one}
		var root any
		if err := json.Unmarshal(raw, &root); err != nil {
			t.Skip()
		}
		for i := range 5 { // each input another fifth
			d := dialects[(len(raw)+i*5)%len(dialects)]
			found := d.Lint(list, nil)
			if !slices.Equal(found, d.Lint(list, nil)) {
				t.Errorf("%s: the findings differ", d.ID)
			}
			for _, f := range found {
				inside, ok := strings.CutPrefix(f.Pointer, "/inputSchema")
				if ok && !twice && !exists(root, inside) {
					t.Errorf("%s: there is no %q", f.Rule, f.Pointer)
				}
			}
		}
	})
}

// exists follows a JSON pointer.
func exists(v any, pointer string) bool {
	if pointer == "" {
		return true
	}
	for _, token := range strings.Split(pointer[1:], "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[token]
			if !ok {
				return false
			}
			v = next
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(at) {
				return false
			}
			v = at[i]
		default:
			return false
		}
	}
	return true
}
