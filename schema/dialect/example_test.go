package dialect_test

import (
	"context"
	"fmt"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// find is a tool whose arguments some clients refuse: id is a number or a text.
func find() *toolpost.Tool {
	return &toolpost.Tool{
		Definition: toolpost.Definition{Name: "find", Description: "Finds a user.", Input: schema.MustParse(
			`{"type":"object","properties":{"id":{"type":["integer","string"]}},"required":["id"]}`)},
		Handler: func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			return toolpost.TextResult("called with " + string(call.Arguments)), nil
		},
	}
}

// The adapted tool has a schema that its reader accepts. Its handler turns the
// arguments back into those of the original.
func ExampleDialect_Adapt() {
	d, err := dialect.Find("claude-desktop")
	if err != nil {
		panic(err)
	}
	tool := d.Adapt([]*toolpost.Tool{find()}, nil).Tools[0]
	fmt.Println(string(tool.Input.Raw()))
	for _, loss := range tool.Losses {
		fmt.Println(loss.Kind, loss.Pointer, loss.Keyword)
	}
	// Output:
	// {"type":"object","properties":{"id":{"type":"string","description":"Written as text: a number or a text."}},"required":["id"]}
	// checked /properties/id type
}

func ExampleDialect_Lint() {
	d, err := dialect.Find("claude-desktop")
	if err != nil {
		panic(err)
	}
	for _, f := range d.Lint([]*toolpost.Tool{find()}, nil) {
		fmt.Println(f.Tool, f.Rule, f.Pointer)
	}
	// Output: find claude-desktop/no-union /inputSchema/properties/id
}
