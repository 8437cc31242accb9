package schema_test

import (
	"fmt"
	"hash/crc32"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost/schema"
)

// property returns the schema of one field F, and whether it is required.
func property(t testing.TB, typ reflect.Type, tag string) (raw string, required bool, err error) {
	t.Helper()
	// The name is another for each tag: StructOf gets slow with many types of one name.
	name := fmt.Sprintf("F%x", crc32.ChecksumIEEE([]byte(tag)))
	f := reflect.StructField{Name: name, Type: typ, Tag: reflect.StructTag(tag)}
	s, err := schema.ForInputType(reflect.StructOf([]reflect.StructField{f}))
	if err != nil {
		return "", false, err
	}
	raw, ok := strings.CutPrefix(string(s.Raw()), `{"type":"object","properties":{"`+name+`":`)
	raw, required = strings.CutSuffix(raw, `},"required":["`+name+`"],"additionalProperties":false}`)
	raw = strings.TrimSuffix(raw, `},"additionalProperties":false}`)
	if !ok {
		t.Fatalf("tag %s makes %s", tag, s.Raw())
	}
	return raw, required, nil
}

func TestTags(t *testing.T) {
	tests := []struct {
		sample   any
		tag      string
		want     string
		optional bool
	}{
		// A description, as in the go-sdk.
		{"", `jsonschema:"the name"`, `{"type":"string","description":"the name"}`, false},
		{"", `jsonschema:"the name, or the id"`, `{"type":"string","description":"the name, or the id"}`, false},
		{"", `jsonschema:"required, as it were"`, `{"type":"string","description":"required, as it were"}`, false},
		{"", `jsonschema:"a \\, stays"`, `{"type":"string","description":"a \\, stays"}`, false},
		{"", `jsonschema:"x if y = 2"`, `{"type":"string","description":"x if y = 2"}`, false},
		{"", `jsonschema:""`, `{"type":"string"}`, false},

		// Keywords, as in invopop/jsonschema.
		{"", `jsonschema:"required"`, `{"type":"string"}`, false},
		{"", `json:",omitempty" jsonschema:"required"`, `{"type":"string"}`, false},
		{"", `json:",omitempty" jsonschema:"required=false"`, `{"type":"string"}`, true},
		{"", `jsonschema:"enum=a,enum=b\\,c"`, `{"type":"string","enum":["a","b,c"]}`, false},
		{"", `enum:"a,b" jsonschema:"enum=a,enum=b,enum=c"`, `{"type":"string","enum":["a","b","c"]}`, false},
		{1, `jsonschema:"enum=1,enum=2"`, `{"type":"integer","enum":[1,2]}`, false},
		{1.5, `jsonschema:"enum=1,enum=2.5"`, `{"type":"number","enum":[1,2.5]}`, false},
		{[]int{}, `jsonschema:"enum=1,minItems=1,maximum=3"`, `{"type":"array","minItems":1,"items":{"type":"integer","enum":[1],"maximum":3}}`, false},
		{[][]string{}, `jsonschema:"minLength=1,maxItems=2"`, `{"type":"array","maxItems":2,"items":{"type":"array","items":{"type":"string","minLength":1}}}`, false},
		{"", `jsonschema:"required,title=T,description=one\\, two,minLength=1,maxLength=2,pattern=^a=b$,format=uri"`,
			`{"type":"string","title":"T","description":"one, two","format":"uri","pattern":"^a=b$","minLength":1,"maxLength":2}`, false},
		{1, `jsonschema:"minimum=1, maximum=9007199254740993"`, `{"type":"integer","minimum":1,"maximum":9007199254740993}`, false},
		{1.0, `jsonschema:"exclusiveMinimum=-1.5,exclusiveMaximum=1e3,multipleOf=0.01"`, `{"type":"number","exclusiveMinimum":-1.5,"exclusiveMaximum":1e3,"multipleOf":0.01}`, false},
		{1, `jsonschema_description:"one, two"`, `{"type":"integer","description":"one, two"}`, false},
		{1, `jsonschema:"default=7"`, `{"type":"integer","default":7}`, true},
		{1, `jsonschema:"required,default=7"`, `{"type":"integer","default":7}`, false},
		{true, `jsonschema:"default=true,example=false,example=true"`, `{"type":"boolean","default":true,"examples":[false,true]}`, true},
		{map[string]int{}, `jsonschema:"minProperties=1,maxProperties=3"`, `{"type":"object","minProperties":1,"maxProperties":3,"additionalProperties":{"type":"integer"}}`, false},

		// Short tags.
		{"", `desc:"one, two"`, `{"type":"string","description":"one, two"}`, false},
		{"", `description:"one" enum:"a,b\\,c"`, `{"type":"string","description":"one","enum":["a","b,c"]}`, false},
		{"", `default:""`, `{"type":"string","default":""}`, true},
		{"", `default:"7"`, `{"type":"string","default":"7"}`, true},
		{"", `jsonschema:"the name" minlen:"1" maxlen:"2" pattern:"^a" format:"email" example:"a,b"`,
			`{"type":"string","description":"the name","examples":["a,b"],"format":"email","pattern":"^a","minLength":1,"maxLength":2}`, false},
		{[]string{}, `minlen:"1" maxlen:"2" default:"[\"a\"]"`, `{"type":"array","default":["a"],"minItems":1,"maxItems":2,"items":{"type":"string"}}`, true},
		{map[string]string{}, `minlen:"1" default:"{ \"a\": \"b\" }"`, `{"type":"object","default":{"a":"b"},"minProperties":1,"additionalProperties":{"type":"string"}}`, true},
		{uint8(1), `min:"1"`, `{"type":"integer","minimum":1,"maximum":255}`, false},
		{new(int), `max:"3" default:"2"`, `{"type":"integer","default":2,"maximum":3}`, true},
		{1, `json:",string" enum:"1,2"`, `{"type":"string","enum":["1","2"],"pattern":"^-?(0|[1-9][0-9]*)$"}`, false},
		{[]any{}, `default:"[1]" example:"[]"`, `{"type":"array","default":[1],"examples":[[]],"items":{}}`, true},
	}
	for _, tt := range tests {
		raw, required, err := property(t, reflect.TypeOf(tt.sample), tt.tag)
		if err != nil || raw != tt.want || required == tt.optional {
			t.Errorf("%T %s\ngot  %s, required %v, error %v\nwant %s, required %v", tt.sample, tt.tag, raw, required, err, tt.want, !tt.optional)
		}
	}
}

// An optional struct with defaults inside is made where it is left out, unless
// it is behind a pointer, or {} is not valid.
func TestDefaultOfStruct(t *testing.T) {
	type limits struct {
		Depth int `default:"5"`
	}
	type outer struct {
		Limits limits `json:",omitzero"`
	}
	type chain struct {
		Limits limits `json:",omitzero"`
		Next   *chain
	}
	for _, tt := range []struct {
		sample any
		tag    string
		want   bool
	}{
		{limits{}, `json:",omitzero"`, true},
		{outer{}, `json:",omitzero"`, true},
		{chain{}, `json:",omitzero"`, true},
		{limits{}, ``, false},
		{limits{}, `json:",omitzero" jsonschema:"required"`, false},
		{limits{}, `json:",omitzero" minlen:"1"`, false},
		{&limits{}, ``, false},
		{[]limits{}, `json:",omitempty"`, false},
		{base{}, `json:",omitzero"`, false},
		{struct {
			limits
			Needed int
		}{}, `json:",omitzero"`, false},
	} {
		f := reflect.StructField{Name: "F", Type: reflect.TypeOf(tt.sample), Tag: reflect.StructTag(tt.tag)}
		s, err := schema.ForInputType(reflect.StructOf([]reflect.StructField{f}))
		if err != nil {
			t.Fatal(err)
		}
		filled := string(s.ApplyDefaults([]byte(`{}`)))
		if got := strings.Contains(filled, `"Depth":5`); got != tt.want || !got && filled != `{}` {
			t.Errorf("%T %s: filled %s by %s", tt.sample, tt.tag, filled, s.Raw())
		}
		if err := s.Validate([]byte(filled)); err != nil && tt.want {
			t.Error(err)
		}
	}
}

// A value that no Go type speaks about is JSON, or else text.
func TestTagsOfAny(t *testing.T) {
	for tag, want := range map[string]string{
		`default:"1"`:          `{"default":1}`,
		`default:"one"`:        `{"default":"one"}`,
		`enum:"1,one,[1\\,2]"`: `{"enum":[1,"one",[1,2]]}`,
		`min:"1" minlen:"2"`:   `{"minLength":2,"minimum":1}`,
	} {
		if raw, _, err := property(t, reflect.TypeFor[any](), tag); raw != want || err != nil {
			t.Errorf("%s: got %s, error %v, want %s", tag, raw, err, want)
		}
	}
}

// Long tags cost no more than their length, and no number is too long to be refused.
func TestTagsOfAnyLength(t *testing.T) {
	digits, start := strings.Repeat("7", 2000), cpu()
	for tag, want := range map[string]string{
		`default:"` + digits + `"`:                              `is not of type integer`,
		`jsonschema:"multipleOf=` + digits + `"`:                `is not a JSON number, or too large`,
		`min:"1e999999999"`:                                     `is not a JSON number, or too large`,
		`pattern:"` + strings.Repeat("(", 20_000) + `"`:         `is not a regular expression: it is longer than 16384 bytes`,
		`enum:"` + strings.Repeat("1,", 100_000) + `x"`:         `is not of type integer`,
		`default:"` + strings.Repeat("[", 100_000) + `"`:        `is not of type integer`,
		`jsonschema:"default=` + strings.Repeat("9", 1e6) + `"`: `is not of type integer`,
	} {
		typ := reflect.TypeFor[int]()
		if strings.HasPrefix(tag, "pattern") {
			typ = reflect.TypeFor[string]()
		}
		if raw, _, err := property(t, typ, tag); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%.40s: schema %.100s, error %.1000v, want %s", tag, raw, err, want)
		}
	}
	if d := cpu() - start; d > 5*slowdown*time.Second {
		t.Errorf("it took %v", d)
	}
}

// Whatever a tag says, it is refused, or makes a schema that compiles and is
// kept whole by a description.
func FuzzTags(f *testing.F) {
	for _, tag := range []string{
		"the name, as it is", "required,enum=a,enum=b\\,c", "minimum=1,maximum=1e400", "minLength=1,pattern=^(a|b)$", "required,",
		"default=1,example=2", "multipleOf=1e-999999999", "title=\xff", "uniqueItems", "=", ",", `\,`, "enum=", "readOnly=maybe", "pattern=(?=a)b",
	} {
		f.Add("jsonschema", tag)
		f.Add("default", tag)
		f.Add("enum", tag)
		f.Add("min", tag)
	}
	types := []reflect.Type{
		reflect.TypeFor[string](), reflect.TypeFor[int8](), reflect.TypeFor[*float64](), reflect.TypeFor[bool](), reflect.TypeFor[any](),
		reflect.TypeFor[[]string](), reflect.TypeFor[map[string]int](), reflect.TypeFor[level](), reflect.TypeFor[[]base](),
	}
	f.Fuzz(func(t *testing.T, name, text string) {
		if strings.ContainsAny(name, " :\"\x00") || name == "json" || len(text) > 1000 {
			return
		}
		for _, typ := range types {
			raw, _, err := property(t, typ, name+":"+strconv.Quote(text))
			if err != nil {
				continue
			}
			if report := schema.MustParse(raw).Unvalidated(); len(report) > 0 {
				t.Errorf("%v %s:%q makes %s: %v", typ, name, text, raw, report)
			}
		}
	})
}
