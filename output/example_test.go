package output_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/output"
	"github.com/toolpost/toolpost/store"
)

func ExampleCache_Layer() {
	ctx := context.Background()
	logs := toolpost.New("logs", "Read the logs.", func(context.Context, struct{}) (string, error) {
		return strings.Repeat("an entry\n", 100_000) + "the cause\n", nil
	}, nil)
	cache := output.New(store.Memory(nil), nil)
	set, err := toolpost.NewSet(ctx, cache.Layer(toolpost.Tools{logs}))
	if err != nil {
		fmt.Println(err)
		return
	}
	view, err := set.Call(ctx, &toolpost.Call{Session: "chat 7", Name: "logs"})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := view.FirstText()
	fmt.Println(len(text) < 48_100, strings.HasSuffix(text, "the cause\n"))

	found, err := set.Call(ctx, &toolpost.Call{
		Session: "chat 7", Name: "tool_output_cache_grep",
		Arguments: fmt.Appendf(nil, `{"ref_id": %q, "pattern": "cause"}`, view.OutputRef()),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ = found.FirstText()
	fmt.Print(text)
	// Output:
	// true true
	// 100001: the cause
}
