package sdktool_test

import (
	"context"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/sdktool"
)

func ExampleFor() {
	type person struct {
		Name string `json:"name"`
	}
	greet, err := sdktool.For(&mcp.Tool{Name: "greet", Description: "Greets a person."},
		func(_ context.Context, _ *mcp.CallToolRequest, in person) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "Hello, " + in.Name + "!"}}}, nil, nil
		})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	set, err := toolpost.NewSet(ctx, toolpost.Tools{greet})
	if err != nil {
		panic(err)
	}
	fmt.Println(set.CallText(ctx, "greet", person{"Ada"}))
	// Output: Hello, Ada! <nil>
}
