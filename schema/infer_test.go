package schema_test

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema"
)

var update = os.Getenv("TOOLPOST_UPDATE") != "" // "make update" rewrites testdata

// A type's own JSON fits its schema: what encoding/json writes the input
// schema, and what a tool returns the output schema.
func TestInferFitsOwnJSON(t *testing.T) {
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			typ := reflect.TypeOf(f.sample)
			sample, zero, nothing := reflect.New(typ), reflect.New(typ), reflect.New(typ)
			sample.Elem().Set(reflect.ValueOf(f.sample))
			fill(zero.Elem())

			in := compiled(t, typ, schema.ForInputType)
			raw := must(stdjson.Marshal(sample.Interface()))(t)
			in.accepts(t, raw)
			if !f.strict {
				in.accepts(t, must(stdjson.Marshal(zero.Interface()))(t))
			}
			if f.reject != "" {
				in.rejects(t, []byte(f.reject))
			}

			out := compiled(t, typ, schema.ForOutputType)
			out.accepts(t, written(t, sample))
			if !f.strict {
				out.accepts(t, written(t, nothing))
			}
			if err := stdjson.Unmarshal(raw, nothing.Interface()); err != nil {
				t.Errorf("the input schema accepts what cannot be read: %v", err)
			}
		})
	}
}

// written returns v as a tool's result has it.
func written(t *testing.T, v reflect.Value) []byte {
	t.Helper()
	return must(toolpost.JSONResult(v.Interface()))(t).Structured()
}

// fill sets nil slices and maps: encoding/json writes null for them.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Slice:
		if v.CanSet() && v.Type() != reflect.TypeFor[stdjson.RawMessage]() {
			v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		}
	case reflect.Map:
		if v.CanSet() {
			v.Set(reflect.MakeMap(v.Type()))
		}
	}
}

// An inferFunc is one of [schema.ForInputType] and [schema.ForOutputType].
type inferFunc func(reflect.Type) (*schema.Schema, error)

// An oracle checks values against a schema twice: with an independent
// validator, and with the schema's own.
type oracle struct {
	schema      *schema.Schema
	independent *jsonschema.Schema
}

func compiled(t *testing.T, typ reflect.Type, infer inferFunc) oracle {
	t.Helper()
	s, err := infer(typ)
	if err != nil {
		t.Fatal(err)
	}
	return oracle{s, compileRaw(t, s.Raw())}
}

func compileRaw(t *testing.T, raw []byte) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.AssertContent()
	doc := must(jsonschema.UnmarshalJSON(bytes.NewReader(raw)))(t)
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	return must(c.Compile("schema.json"))(t)
}

func (o oracle) check(t *testing.T, raw []byte) (independent, own error) {
	t.Helper()
	v := must(jsonschema.UnmarshalJSON(bytes.NewReader(raw)))(t)
	independent = o.independent.Validate(v)
	if independent != nil && o.independent.Validate(absent(v)) == nil {
		independent = nil // null is absent
	}
	return independent, o.schema.Validate(raw)
}

func (o oracle) accepts(t *testing.T, raw []byte) {
	t.Helper()
	independent, own := o.check(t, raw)
	if independent != nil || own != nil {
		t.Errorf("%s\nrejects %s\n%v\n%v", o.schema.Raw(), raw, independent, own)
	}
}

func (o oracle) rejects(t *testing.T, raw []byte) {
	t.Helper()
	independent, own := o.check(t, raw)
	if independent == nil || own == nil {
		t.Errorf("%s\naccepts %s (independent: %v, own: %v)", o.schema.Raw(), raw, independent, own)
	}
}

// absent leaves out members that are null.
func absent(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := map[string]any{}
		for name, value := range v {
			if value != nil {
				m[name] = absent(value)
			}
		}
		return m
	case []any:
		for i := range v {
			v[i] = absent(v[i])
		}
	}
	return v
}

// The schemas themselves are in testdata/infer.txtar: a line for input, one
// for output where that is another, and the findings.
func TestInferGolden(t *testing.T) {
	const file = "testdata/infer.txtar"
	got := new(txtar.Archive)
	for _, f := range families {
		in, findings := inferred(t, f, schema.ForInputType)
		data := in
		if out, _ := inferred(t, f, schema.ForOutputType); out != in {
			data += "output: " + out
		}
		for _, found := range findings {
			data += "finding: " + found.Pointer + " " + found.Message + "\n"
		}
		got.Files = append(got.Files, txtar.File{Name: f.name, Data: []byte(data)})
	}
	if update {
		if err := os.WriteFile(file, txtar.Format(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := must(os.ReadFile(file))(t)
	if diff := cmp.Diff(string(want), string(txtar.Format(got))); diff != "" {
		t.Errorf("run make update if this is meant (-want +got):\n%s", diff)
	}
}

func inferred(t *testing.T, f family, infer inferFunc) (string, []schema.Finding) {
	t.Helper()
	s, err := infer(reflect.TypeOf(f.sample))
	if err != nil {
		t.Fatal(err)
	}
	return string(s.Raw()) + "\n", s.Findings()
}

// No schema has a $schema, a boolean property, or null in what a model is asked for.
func TestInferKeepsToWhatClientsTake(t *testing.T) {
	for _, f := range families {
		s, err := schema.ForInputType(reflect.TypeOf(f.sample))
		if err != nil {
			t.Fatal(err)
		}
		var root any
		if err := json.Unmarshal(s.Raw(), &root); err != nil {
			t.Fatal(err)
		}
		inspect(t, f.name, root)
		if !s.IsObject() {
			t.Errorf("%s: IsObject = false", f.name)
		}
	}
}

func inspect(t *testing.T, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if _, boolean := value.(bool); name == "$schema" || boolean && strings.HasSuffix(path, "/properties") {
				t.Errorf("%s has %s: %v", path, name, value)
			}
			inspect(t, path+"/"+name, value)
		}
	case []any:
		for i, value := range v {
			inspect(t, fmt.Sprint(path, "/", i), value)
		}
	case string:
		if v == "null" {
			t.Errorf("%s is null", path)
		}
	}
}

// must(f())(t) is the value of f, or the end of the test.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
