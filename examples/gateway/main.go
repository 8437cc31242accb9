// Command gateway serves two MCP servers and a tool of its own at one address.
package main

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/upstream"
)

func audit(next toolpost.Handler) toolpost.Handler {
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		log.Println("call", call.Name, string(call.Arguments))
		return next(ctx, call)
	}
}

func main() {
	docs, err1 := upstream.Start(&upstream.Config{Name: "docs", URL: os.Args[2]}, nil)
	notes, err2 := upstream.Start(&upstream.Config{Name: "notes", URL: os.Args[3]}, nil)
	if err := errors.Join(err1, err2); err != nil {
		log.Fatal(err)
	}
	weather := toolpost.New("weather", "Returns the weather of a city.", func(_ context.Context, in struct{ City string }) (string, error) {
		return "Sunny in " + in.City, nil
	}, nil)
	reading := toolpost.Filter(docs, func(t *toolpost.Tool) bool { return strings.HasPrefix(t.Name, "read_") })
	all := toolpost.Join(toolpost.Prefix(reading, "docs_"), toolpost.Prefix(notes, "notes_"), toolpost.Tools{weather})
	server, err := mcpserver.New(toolpost.Wrap(all, audit), nil)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe(os.Args[1], server.Handler()))
}
