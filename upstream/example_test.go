package upstream_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"sync"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/upstream"
)

// somewhere is the address of an MCP server with one tool.
func somewhere() (url string, stop func()) {
	type city struct {
		City string `json:"city"`
	}
	weather := toolpost.New("weather", "Returns the weather of a city.",
		func(_ context.Context, in city) (string, error) { return "Sunny in " + in.City, nil }, nil)
	live, err := toolpost.NewLive(context.Background(), toolpost.Tools{weather})
	if err != nil {
		panic(err)
	}
	server := mcpserver.New(live, nil)
	web := httptest.NewServer(server.Handler())
	return web.URL + "/mcp", func() { web.Close(); server.Close() }
}

// A server is a toolset. Start returns before the server has answered; until Ready
// returns, it has no tools.
func ExampleStart() {
	ctx := context.Background()
	url, stop := somewhere()
	defer stop()

	u, err := upstream.Start(&upstream.Config{Name: "weather", URL: url}, nil)
	if err != nil {
		panic(err)
	}
	defer u.Close()
	if err := u.Ready(ctx); err != nil {
		panic(err)
	}
	set, err := toolpost.NewSet(ctx, toolpost.Prefix(u, "far_"))
	if err != nil {
		panic(err)
	}
	text, err := set.CallText(ctx, "far_weather", map[string]string{"city": "Oslo"})
	fmt.Println(text, err)
	// Output: Sunny in Oslo <nil>
}

// Tools of a server that changes are listed again when Changed is called. Changed
// may be called before there is a Live, so it only leaves a note.
func ExampleOptions_changed() {
	ctx, cancel := context.WithCancel(context.Background())
	var refreshing sync.WaitGroup
	defer refreshing.Wait()
	defer cancel()
	url, stop := somewhere()
	defer stop()

	changed := make(chan struct{}, 1)
	u, err := upstream.Start(&upstream.Config{Name: "weather", URL: url}, &upstream.Options{Changed: func() {
		select {
		case changed <- struct{}{}:
		default: // there is a note already
		}
	}})
	if err != nil {
		panic(err)
	}
	defer u.Close()
	if err := u.Ready(ctx); err != nil {
		panic(err)
	}
	live, err := toolpost.NewLive(ctx, u)
	if err != nil {
		panic(err)
	}
	refreshing.Go(func() {
		for {
			select {
			case <-changed:
				_ = live.Refresh(ctx) // after an error the old list stays; log it
			case <-ctx.Done():
				return
			}
		}
	})
	tools, err := live.Set().Tools(ctx)
	fmt.Println(tools[0].Name, err)
	// Output: weather <nil>
}
