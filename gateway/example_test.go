package gateway_test

import (
	"context"
	"fmt"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
)

// A gateway joins the servers of a configuration with toolsets of the program.
func ExampleGateway_Add() {
	ctx := context.Background()
	g, err := gateway.Start(ctx, new(config.Config), nil)
	if err != nil {
		panic(err)
	}
	defer g.Close()
	greet := toolpost.New("greet", "Greets a person.", func(_ context.Context, in struct{ Name string }) (string, error) {
		return "Hello, " + in.Name + "!", nil
	}, nil)
	if err := g.Add("own", toolpost.Tools{greet}); err != nil {
		panic(err)
	}
	fmt.Println(g.Live().CallText(ctx, "own__greet", map[string]string{"Name": "Ada"}))
	// Output: Hello, Ada! <nil>
}
