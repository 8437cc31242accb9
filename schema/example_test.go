package schema_test

import (
	"fmt"

	"github.com/toolpost/toolpost/schema"
)

func ExampleSchema_Validate() {
	s := schema.MustParse(`{
		"type": "object",
		"properties": {"id": {"type": "integer"}, "state": {"enum": ["open", "closed"]}},
		"required": ["id"],
		"additionalProperties": false
	}`)
	fmt.Println(s.Validate([]byte(`{"stat":"opened","state":"opened"}`)))
	// Output:
	// /stat: unknown property; valid names: state, id
	// /state: expected one of "open", "closed", got string "opened"
	// /id: expected integer, got nothing: the property is required
}

func ExampleSchema_Unvalidated() {
	s := schema.MustParse(`{"properties": {"a": {"$ref": "https://example.com/a.json"}}}`)
	for _, f := range s.Unvalidated() {
		fmt.Println(f.Pointer, f.Message)
	}
	// Output:
	// /properties/a/$ref "https://example.com/a.json" is outside the schema, and is not fetched; what it refers to is not checked
}
