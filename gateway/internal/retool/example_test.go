package retool_test

import (
	"context"
	"encoding/json"
	"fmt"
	"github.com/toolpost/toolpost/config"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/gateway/internal/retool"
)

func Example() {
	type arguments struct {
		Q    string `json:"q"`
		Repo string `json:"repo"`
	}
	search := toolpost.New("search", "Search a repository.", func(_ context.Context, a arguments) (string, error) {
		return a.Q + " in " + a.Repo, nil
	}, nil)
	block := config.ToolChanges{Tools: []config.ToolChange{{
		Tool: "search", Name: "find",
		Arguments: []config.ArgumentChange{
			{Argument: "q", Name: "query"},
			{Argument: "repo", Hide: true, Default: json.RawMessage(`"toolpost"`)},
		},
	}}}
	tools, _ := retool.New(block).Apply([]*toolpost.Tool{search}, true)
	set, _ := toolpost.NewSet(context.Background(), toolpost.Tools(tools))
	fmt.Println(string(tools[0].Input.Raw()))
	fmt.Println(set.CallText(context.Background(), "find", map[string]any{"query": "layers"}))
	// Output:
	// {"type":"object","properties":{"query":{"type":"string"}},"required":["query"],"additionalProperties":false}
	// layers in toolpost <nil>
}
