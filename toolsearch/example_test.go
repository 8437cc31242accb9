package toolsearch_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/toolsearch"
)

func ExampleLayer() {
	ctx := context.Background()
	var tools toolpost.Tools
	for _, city := range []string{"Berlin", "Paris", "Rome"} {
		tools = append(tools, toolpost.New("weather_"+city, "Return the weather in "+city, func(context.Context, struct{}) (string, error) {
			return "sunny in " + city, nil
		}, nil))
	}
	set, err := toolpost.NewSet(ctx, toolsearch.Layer(tools, &toolsearch.Options{Budget: 50}))
	if err != nil {
		fmt.Println(err)
		return
	}
	found, err := set.CallText(ctx, "find_tools", map[string]any{"query": "is it raining in Rome?", "limit": 1})
	fmt.Println(strings.Contains(found, "weather_Rome"), err)
	fmt.Println(set.CallText(ctx, "call_tool_write", map[string]any{"name": "weather_Rome"}))
	// Output:
	// true <nil>
	// sunny in Rome <nil>
}
