package schema_test

import (
	"fmt"

	"github.com/toolpost/toolpost/schema"
)

func ExampleForInput() {
	type Search struct {
		Query string   `json:"query" desc:"what to look for" minlen:"1"`
		Limit int      `json:"limit" default:"20" min:"1" max:"100"`
		Sort  string   `json:"sort,omitempty" enum:"date,size"`
		In    []string `json:"in,omitempty" jsonschema:"folders, all if left out"`
	}
	s, err := schema.ForInput[Search]()
	if err != nil {
		panic(err)
	}
	fmt.Println(string(s.Raw()))
	fmt.Println(string(s.ApplyDefaults([]byte(`{"query":"lathe"}`))))
	fmt.Println(s.Validate([]byte(`{"query":"","limit":1000,"sort":null}`)))
	// Output:
	// {"type":"object","properties":{"query":{"type":"string","description":"what to look for","minLength":1},"limit":{"type":"integer","default":20,"minimum":1,"maximum":100},"sort":{"type":"string","enum":["date","size"]},"in":{"type":"array","description":"folders, all if left out","items":{"type":"string"}}},"required":["query"],"additionalProperties":false}
	// {"query":"lathe","limit":20}
	// /query: expected string with at least 1 character, got string ""
	// /limit: expected integer from 1 up to 100, got integer 1000
}
