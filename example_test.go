package toolpost_test

import (
	"context"
	"fmt"

	"github.com/toolpost/toolpost"
)

// The lines of the README.
func Example() {
	ctx := context.Background()

	type place struct{ City string }
	weather := toolpost.New("weather", "Tells the weather of a city.", func(ctx context.Context, in place) (string, error) {
		return "Sunny in " + in.City, nil
	}, nil)
	set, err := toolpost.NewSet(ctx, toolpost.Prefix(toolpost.Tools{weather}, "demo_"))
	if err != nil {
		panic(err)
	}
	text, err := set.CallText(ctx, "demo_weather", place{"Oslo"})

	fmt.Println(text, err)
	// Output: Sunny in Oslo <nil>
}

// A Live holds the current list of a toolset that changes. Clients of an mcpserver
// are told of every change.
func ExampleLive() {
	ctx := context.Background()
	nothing := func(context.Context, struct{}) (string, error) { return "", nil }
	tools := toolpost.Tools{toolpost.New("first", "Does nothing.", nothing, nil)}
	live, err := toolpost.NewLive(ctx, toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) { return tools, nil }))
	if err != nil {
		panic(err)
	}
	stop := live.Watch(func(s *toolpost.Set) {
		names := []string{}
		list, _ := s.Tools(ctx) // a Set has its tools already
		for _, t := range list {
			names = append(names, t.Name)
		}
		fmt.Println(names)
	})
	defer stop()
	tools = append(tools, toolpost.New("second", "Does nothing, too.", nothing, nil))
	if err := live.Refresh(ctx); err != nil {
		panic(err)
	}
	// Output:
	// [first]
	// [first second]
}
