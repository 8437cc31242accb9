package gateway_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/upstream"
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

// A gateway is served with its views: each client gets the tools of its profile, in the
// dialect that it understands.
func ExampleViews() {
	ctx := context.Background()
	cfg, err := config.Parse("toolpost.json", []byte(`{"mcpServers": {}, "profiles": {"reader": {"include": ["notes__read"]}}}`), nil)
	if err != nil {
		panic(err)
	}
	g, err := gateway.Start(ctx, cfg, nil)
	if err != nil {
		panic(err)
	}
	defer g.Close()
	answer := func(context.Context, struct{}) (string, error) { return "done", nil }
	notes := toolpost.Tools{toolpost.New("read", "Reads a note.", answer, nil), toolpost.New("write", "Writes a note.", answer, nil)}
	if err := g.Add("notes", notes); err != nil {
		panic(err)
	}
	server, err := mcpserver.New(ctx, g, &mcpserver.Options{Views: g.Views()})
	if err != nil {
		panic(err)
	}
	defer server.Close()
	web := httptest.NewServer(server) // http.ListenAndServe in a program
	defer web.Close()

	for _, address := range []string{"/mcp", "/mcp/reader"} {
		client, err := upstream.Start(&upstream.Config{Name: "client", URL: web.URL + address}, nil)
		if err != nil {
			panic(err)
		}
		defer client.Close()
		if err := client.Ready(ctx); err != nil {
			panic(err)
		}
		tools, err := client.Tools(ctx)
		fmt.Println(address, len(tools), err)
	}
	// Output:
	// /mcp 2 <nil>
	// /mcp/reader 1 <nil>
}
