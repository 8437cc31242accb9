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
