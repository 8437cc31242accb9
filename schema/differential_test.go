package schema_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

type backtracking struct{ *regexp2.Regexp }

func (b backtracking) MatchString(s string) bool {
	ok, err := b.Regexp.MatchString(s)
	return ok && err == nil
}

// reference returns a schema compiled by the full validator alone.
func reference(t testing.TB, raw string) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.UseRegexpEngine(func(s string) (jsonschema.Regexp, error) {
		re, err := regexp2.Compile(s, regexp2.ECMAScript)
		return backtracking{re}, err
	})
	if err := c.AddResource("mem:///reference", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("mem:///reference")
	if err != nil {
		t.Fatalf("%v\n%s", err, raw)
	}
	return s
}

// differ checks random values against one random schema, by ours and by the full
// validator. If b is odd, the schema has rare keywords. It returns how many fit.
func differ(t testing.TB, a, b uint64, values int) (fit int) {
	t.Helper()
	g := newGenerator(a, b)
	doc := g.document()
	if b%2 == 1 {
		spice(g, doc)
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	v := compile(t, string(raw))
	if len(v.Report()) > 0 {
		if b%2 == 1 { // unevaluatedProperties, or a reference to itself
			return 0
		}
		t.Fatalf("%s is not validated: %v", raw, v.Report())
	}
	want := reference(t, string(raw))
	for range values {
		text := g.text(g.value(3))
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := v.Validate([]byte(text)), want.Validate(doc)
		if (ours == nil) != (theirs == nil) {
			t.Fatalf("seed %d %d\nschema %s\nvalue %s\nours %v\ntheirs %v", a, b, raw, text, ours, theirs)
		}
		if ours == nil {
			fit++
		} else if strings.Contains(ours.Error(), "less work") {
			t.Fatalf("not explained\nschema %s\nvalue %s\ntheirs %v", raw, text, theirs)
		}
	}
	return fit
}

func TestDifferential(t *testing.T) {
	fit := 0
	for seed := range uint64(1000) {
		fit += differ(t, seed, seed, 20)
	}
	if fit < 4000 || fit > 16000 {
		t.Errorf("%d of 20000 values fit: the generator is out of balance", fit)
	}
}

func FuzzDifferential(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) { differ(t, a, b, 50) })
}
