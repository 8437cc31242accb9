package bind_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/bind"
)

// A shouter is a tool of a framework that Toolpost does not know.
type shouter struct{}

func (shouter) Name() string        { return "shout" }
func (shouter) Description() string { return "Writes a text in capital letters." }

func (shouter) Call(_ context.Context, text string) (string, error) {
	return strings.ToUpper(text), nil
}

func ExampleAdapt() {
	ctx := context.Background()
	shout, err := bind.Adapt(shouter{})
	if err != nil {
		panic(err)
	}
	set, err := toolpost.NewSet(ctx, toolpost.Tools{shout})
	if err != nil {
		panic(err)
	}
	fmt.Println(set.CallText(ctx, "shout", map[string]string{"input": "hello"}))
	// Output: HELLO <nil>
}
