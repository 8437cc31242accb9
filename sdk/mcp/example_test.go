package mcp_test

import (
	"context"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/sdk/mcp"
)

func ExampleFor() {
	type person struct {
		Name string `json:"name"`
	}
	greet, err := mcp.For(&sdk.Tool{Name: "greet", Description: "Greets a person."},
		func(_ context.Context, _ *sdk.CallToolRequest, in person) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "Hello, " + in.Name + "!"}}}, nil, nil
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
