package schema_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/schema"
)

// TestForeignTags: a tag that looks right and has no effect is an error that
// names the right one.
func TestForeignTags(t *testing.T) {
	for _, c := range []struct {
		tag  reflect.StructTag
		want string // "" if the tag is fine
	}{
		{`minimum:"1" maximum:"10"`, `the tag minimum has no effect; write min:"…"`},
		{`json:"n" maximum:"10"`, `the tag maximum has no effect; write max:"…"`},
		{`minLength:"1"`, `write minlen:"…"`},
		{`maxItems:"1"`, `write maxlen:"…"`},
		{`doc:"a: \"b\" minimum:"`, `write desc:"…"`},
		{`required:"true"`, `write jsonschema:"required"`},
		{`Pattern:"^a"`, `write pattern`},
		{`MinLen:"1"`, `write minlen`},
		{`exclusiveMinimum:"1"`, `write jsonschema:"exclusiveMinimum=…"`},
		{`jsonschema:"description=first, second"`, `the description ends at the comma before "second"; write the description as desc:"…"`},
		{`desc:"say minimum:\"1\" or title:\"x\""`, ""},
		{`json:"n" yaml:"n" validate:"min=1" db:"n" minlen:"1"`, ""},
	} {
		field := reflect.StructField{Name: "N", Type: reflect.TypeFor[string](), Tag: c.tag}
		_, err := schema.ForInputType(reflect.StructOf([]reflect.StructField{field}))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.tag, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: got %v, want %s", c.tag, err, c.want)
		}
	}
}
