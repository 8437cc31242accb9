package schema_test

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/toolpost/toolpost/schema"
)

type (
	stringer interface{ String() string }
	endless  *endless
	bad      struct{}
	notBool  struct{}
	noValues string
	mismatch int
	failing  string
	hidden   struct{ X int }
	purchase struct {
		Items []struct {
			Callback func()
		}
		ByName map[string]struct{ Done chan int }
	}
)

func (bad) JSONSchema() string     { return "no object" }
func (notBool) JSONSchema() []byte { return []byte(`{"type":`) }
func (noValues) Enum() []string    { return nil }
func (mismatch) Enum() []any       { return []any{"low"} }
func (failing) Enum() []any        { return []any{"a", func() {}} }

func TestInferErrors(t *testing.T) {
	tests := []struct {
		sample any
		want   string // … stands for a text of another package
	}{
		{purchase{}, `infer schema of schema_test.purchase: purchase.Items[].Callback: func cannot be written as JSON; leave it out with json:"-"
purchase.ByName[].Done: chan cannot be written as JSON; leave it out with json:"-"`},
		{struct{ F complex128 }{}, `F: complex128 cannot be written as JSON; leave it out with json:"-"`},
		{struct{ F unsafe.Pointer }{}, `F: unsafe.Pointer cannot be written as JSON; leave it out with json:"-"`},
		{func() {}, `func cannot be written as JSON; leave it out with json:"-"`},
		{tagged[int]("f", `json:"f"`), `f: it is tagged but not exported; export it, or leave out the tag`},
		{tagged[int]("f", `jsonschema:"a number"`), `f: it is tagged but not exported; export it, or leave out the tag`},
		{struct{ *hidden }{}, `hidden: an embedded pointer to an unexported struct cannot be read from JSON; export it or embed it by value`},
		{struct{ F map[float64]int }{}, `F: a map key of type float64 cannot be a JSON name; use a string, an integer or an encoding.TextMarshaler`},
		{struct{ F stringer }{}, `F: schema_test.stringer cannot be read from JSON; use any or a concrete type`},
		{struct{ F endless }{}, `F: a pointer to a pointer to a pointer cannot be described; use one pointer`},
		{struct{ F bad }{}, `F: method JSONSchema of schema_test.bad: its JSON is "no object", want a JSON object`},
		{struct{ F notBool }{}, `F: method JSONSchema of schema_test.notBool: its JSON is {"type":, want a JSON object`},
		{struct{ F noValues }{}, `F: method Enum of schema_test.noValues lists no values`},
		{struct{ F failing }{}, `F: method Enum of schema_test.failing: …`},
		{struct {
			namedInt `json:"n"`
		}{}, `namedInt: it is tagged but not exported; export it, or leave out the tag`},
		{struct{ F mismatch }{}, `F: schema_test.mismatch lists "low" in Enum, but is written as integer`},
		{reflect.New(reflect.StructOf([]reflect.StructField{
			{Name: "F", Type: reflect.TypeFor[int](), Tag: `json:"f"`},
			{Name: "G", Type: reflect.TypeFor[int](), Tag: `json:"f"`},
		})).Elem().Interface(), `G: its JSON name "f" is also that of F; rename one of them`},
		{tagged[int]("F", `json:"it's"`), `F: encoding/json does not accept the json name "it's"; use letters, digits and - or _`},
		{tagged[map[string]int]("F", `json:",embed"`), `F: json option "embed" is not supported; describe the type with a method JSONSchema() *schema.Schema`},

		{tagged[bool]("F", `min:"1"`), `F: minimum does not apply to boolean`},
		{tagged[string]("F", `max:"1"`), `F: maximum does not apply to string`},
		{tagged[[]bool]("F", `pattern:"a"`), `F: pattern does not apply to boolean`},
		{tagged[int]("F", `minlen:"1"`), `F: minlen does not apply to integer`},
		{tagged[int]("F", `min:"one"`), `F: minimum "one" is not a JSON number, or too large`},
		{tagged[int]("F", `min:" 1"`), `F: minimum " 1" is not a JSON number, or too large`},
		{tagged[uint]("F", `min:"-1"`), `F: minimum "-1" is beyond 0, the minimum of the type`},
		{tagged[int8]("F", `max:"128"`), `F: maximum "128" is beyond 127, the maximum of the type`},
		{tagged[float64]("F", `jsonschema:"multipleOf=0.0"`), `F: multipleOf "0.0" is not above 0`},
		{tagged[string]("F", `maxlen:"-1"`), `F: maxlen "-1" is not a count`},
		{tagged[int]("F", `default:"one"`), `F: default "one" is not of type integer`},
		{tagged[int]("F", `default:"1.5"`), `F: default "1.5" is not of type integer`},
		{tagged[int8]("F", `default:"200"`), `F: default 200 does not fit: expected integer from -128 up to 127, got integer 200`},
		{tagged[int]("F", `json:",string" default:"x"`), `F: default "x" does not fit: expected string matching ^-?(0|[1-9][0-9]*)$, got string "x"`},
		{tagged[string]("F", `enum:"a,b" default:"c"`), `F: default "c" does not fit: expected one of "a", "b", got string "c"`},
		{tagged[int]("F", `default:"0" min:"1"`), `F: default 0 does not fit: expected integer from 1, got integer 0`},
		{tagged[level]("F", `default:"middle"`), `F: default "middle" does not fit: expected one of "low", "high", got string "middle"`},
		{tagged[time.Time]("F", `default:"noon"`), `F: default "noon" cannot be read: parsing time "noon" as "2006-01-02T15:04:05Z07:00": cannot parse "noon" as "2006"`},
		{tagged[string]("F", `pattern:"("`), "F: pattern \"(\" is not a regular expression: no engine can compile it"},
		{tagged[int]("F", `enum:"1,b"`), `F: enum "b" is not of type integer`},
		{tagged[[]string]("F", `jsonschema:"uniqueItems=yes"`), `F: uniqueItems "yes" is not true or false`},
		{tagged[int]("F", `jsonschema:"required=maybe"`), `F: required "maybe" is not true or false`},
		{tagged[int]("F", `jsonschema:"minimum=1,minimun=2"`), `F: jsonschema tag: "minimun" is not a keyword; a comma in a value is written \\, and a text that begins like a keyword goes into the tag desc`},
		{tagged[int]("F", `jsonschema:"required,description=one, two"`), `F: jsonschema tag: the description ends at the comma before "two"; write the description as desc:"…"`},
		{tagged[int]("F", `jsonschema:"required,minimum"`), `F: jsonschema tag: minimum has no value; write minimum=a value`},
		{tagged[int]("F", `jsonschema:"-"`), `F: jsonschema tag: "-" leaves nothing out, because the field is still read; write json:"-"`},
		{tagged[int]("F", `jsonschema:"nullable"`), `F: jsonschema tag: nullable is not supported; …`},
		{tagged[int]("F", `jsonschema:"required,nullable"`), `F: jsonschema tag: nullable is not supported; …`},
		{tagged[int]("F", `jsonschema:"minimum=1,nullable=true"`), `F: jsonschema tag: nullable is not supported; …`},
		{tagged[int]("F", `jsonschema:"required,oneof_type=string;integer"`), `F: jsonschema tag: "oneof_type" is not a keyword; …`},
		{tagged[int]("F", `jsonschema:"description=one" desc:"two"`), `F: description is given twice`},
	}
	for _, tt := range tests {
		typ := reflect.TypeOf(tt.sample)
		s, err := schema.ForInputType(typ)
		if err == nil {
			t.Errorf("%v: got %s, want error %s", typ, s.Raw(), tt.want)
			continue
		}
		if typ.Name() == "" {
			name := typ.String()
			tt.want = "infer schema of " + name[:min(80, len(name))] + ": " + tt.want
		}
		if start, cut := strings.CutSuffix(tt.want, "…"); err.Error() != tt.want && !(cut && strings.HasPrefix(err.Error(), start)) {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
	}
	if _, err := schema.ForInputType(nil); err == nil {
		t.Error("ForInputType(nil) has no error")
	}
}

// tagged returns a struct of one field. Vet would not let us write some of them.
func tagged[T any](name, tag string) any {
	f := reflect.StructField{Name: name, Type: reflect.TypeFor[T](), Tag: reflect.StructTag(tag)}
	if name == "f" {
		f.PkgPath = "example.org/p"
	}
	return reflect.New(reflect.StructOf([]reflect.StructField{f})).Elem().Interface()
}

// What cannot be read may be written.
func TestInferOutputOnly(t *testing.T) {
	for _, sample := range []any{struct{ F stringer }{}, struct{ F error }{}, struct{ *hidden }{}} {
		if _, err := schema.ForOutputType(reflect.TypeOf(sample)); err != nil {
			t.Error(err)
		}
	}
}
