package claude_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/schema"
)

func ExampleNewServer() {
	greet := toolpost.New("greet", "Greet somebody.", func(_ context.Context, in struct{ Name string }) (string, error) {
		return "Hello, " + in.Name + "!", nil
	}, nil)
	list := &toolpost.Tool{
		Definition: toolpost.Definition{Name: "list", Input: schema.MustParse(`{"type":"array"}`)},
		Handler:    greet.Handler,
	}

	_, err := claude.NewServer(context.Background(), "greeter", toolpost.Tools{greet, list}, nil)
	var refused *claude.ToolsRefusedError
	if errors.As(err, &refused) {
		fmt.Println(refused.Tools[0].Name, refused.Tools[0].Rule)
	}

	s, err := claude.NewServer(context.Background(), "greeter", toolpost.Tools{greet}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	fmt.Println(claude.ToolName(s.Name(), "greet"))
	// Output:
	// list all/poison-root-type
	// mcp__greeter__greet
}
