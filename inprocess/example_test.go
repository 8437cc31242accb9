package inprocess_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/inprocess"
	"github.com/toolpost/toolpost/upstream"
)

// A library is a server of a kind that this program knows.
type library struct{ toolpost.Toolset }

// Check would ask the server whether it takes the credentials.
func (library) Check(context.Context) error { return nil }

// openLibrary returns the tools for the library at an address.
func openLibrary(o *inprocess.Options) (inprocess.Source, error) {
	find := toolpost.New("find", "Finds books.", func(_ context.Context, in struct{ Title string }) (string, error) {
		return in.Title + " is at " + o.URL, nil
	}, nil)
	return library{toolpost.Tools{find}}, nil
}

// A program gives the gateway what it has for a type of servers.
func Example() {
	server := config.Server{
		Config: upstream.Config{Name: "city", Transport: "library"},
		Source: &inprocess.Options{URL: "https://library.example.com", Key: "k3y"},
	}
	ctx := context.Background()
	g, err := gateway.Start(ctx, &config.Config{Servers: []config.Server{server}}, &gateway.Options{
		Logger:  slog.New(slog.DiscardHandler),
		Sources: map[upstream.Transport]inprocess.Opener{"library": openLibrary},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer g.Close()
	if err := g.Ready(ctx); err != nil {
		log.Fatal(err)
	}
	text, err := g.Live().CallText(ctx, "city__find", map[string]any{"Title": "Emma"})
	fmt.Println(text, err)
	// Output: Emma is at https://library.example.com <nil>
}
