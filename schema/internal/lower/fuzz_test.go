package lower_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/toolpost/toolpost/dev/accept"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/internal/lower"
)

// randomRules returns rules that are each asked for or not.
func randomRules(seed uint64) *lower.Rules {
	rng := rand.New(rand.NewPCG(seed, 5))
	rules := &lower.Rules{}
	fill(rng, reflect.ValueOf(rules).Elem())
	if rng.IntN(2) == 0 {
		rules.Keywords = []string{"type", "properties", "required", "items", "description"}
		for _, k := range []string{"enum", "anyOf", "oneOf", "$ref", "$defs", "additionalProperties", "title", "default", "examples", "not",
			"minimum", "pattern", "format", "minLength", "prefixItems", "uniqueItems", "minItems", "maxItems", "patternProperties"} {
			if rng.IntN(2) == 0 {
				rules.Keywords = append(rules.Keywords, k)
			}
		}
	}
	return rules
}

// words are the values that rules have besides "".
var words = map[string][]string{
	"Dialect": {"draft-07", "openapi"}, "Null": {"keyword", "none"}, "Untyped": {"json"}, "Pattern": {"re2", "simple", "anchored", "whole"},
	"Maps": {"pairs", "json"}, "Tuples": {"object"}, "Recursion": {"optional", "none"}, "Name": {"^[a-z_]{1,9}$"},
}

func fill(rng *rand.Rand, v reflect.Value) {
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		if rng.IntN(3) == 0 {
			continue
		}
		switch f.Kind() {
		case reflect.Struct:
			fill(rng, f)
		case reflect.Bool:
			f.SetBool(rng.IntN(3) == 0)
		case reflect.String:
			if w := words[name]; rng.IntN(2) == 0 {
				f.SetString(w[rng.IntN(len(w))])
			}
		case reflect.Int:
			if rng.IntN(3) == 0 {
				f.SetInt(int64(3 + rng.IntN(20)))
				if name == "Bytes" {
					f.SetInt(100 * f.Int())
				}
			}
		case reflect.Slice:
			if name == "Siblings" && rng.IntN(2) == 0 {
				f.Set(reflect.ValueOf([]string{"description"}))
			} else if name == "Reserved" || name == "Forbidden" {
				f.Set(reflect.ValueOf([]string{"name", "id"}))
			}
		case reflect.Pointer:
			f.Set(reflect.ValueOf(new(int)))
		}
	}
}

// FuzzSchema lowers any schema by any rules.
func FuzzSchema(f *testing.F) {
	for i, s := range append(accept.Torture(), accept.Tools()[:20]...) {
		f.Add([]byte(s.Input()), uint64(i))
	}
	for seed := range uint64(40) {
		f.Add([]byte(accept.RandomSchema(rand.New(rand.NewPCG(seed, 1)))), seed)
	}
	f.Fuzz(func(t *testing.T, raw []byte, seed uint64) {
		if len(raw) > 20_000 {
			t.Skip()
		}
		s, err := schema.Parse(raw)
		if err != nil {
			t.Skip()
		}
		before := bytes.Clone(s.Raw())
		r, again := lower.Schema(s, randomRules(seed)), lower.Schema(s, randomRules(seed))
		if !bytes.Equal(r.Schema, again.Schema) || !slices.Equal(r.Losses, again.Losses) {
			t.Errorf("it comes out in two ways: %s, %s", r.Schema, again.Schema)
		}
		if !bytes.Equal(before, s.Raw()) {
			t.Error("the schema is changed")
		}
		if r.Schema != nil && !json.Valid(r.Schema) {
			t.Errorf("no JSON: %s", r.Schema)
		}
		for _, l := range r.Losses {
			if l.Kind == "" || l.Detail == "" || l.Pointer != "" && l.Pointer[0] != '/' {
				t.Errorf("an odd loss: %+v", l)
			}
		}
	})
}

// FuzzDecode turns any value back, and there, by the codecs of some schemas.
func FuzzDecode(f *testing.F) {
	var codecs []*lower.Codec
	for i, r := range accept.Schemas() {
		codecs = append(codecs, lower.Schema(schema.MustParse(string(r.Schema)), randomRules(uint64(i))).Codec)
		for _, v := range r.Valid {
			if written, ok := codecs[i].Encode(v); ok {
				f.Add([]byte(written), i)
			}
			f.Add([]byte(v), i)
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte, n int) {
		codec := codecs[uint(n)%uint(len(codecs))]
		old, _ := codec.Decode(raw)
		if json.Valid(raw) && !json.Valid(old) {
			t.Errorf("%s is decoded as %s", raw, old)
		}
		written, ok := codec.Encode(raw)
		if !ok || !json.Valid(raw) {
			return
		}
		if !json.Valid(written) {
			t.Errorf("%s is written as %s", raw, written)
		}
		codec.Decode(written)
		codec.Seen("/a/0/b")
	})
}
