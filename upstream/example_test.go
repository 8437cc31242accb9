package upstream_test

import (
	"context"
	"fmt"
	"net/http/httptest"

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
	server, err := mcpserver.New(context.Background(), toolpost.Tools{weather}, nil)
	if err != nil {
		panic(err)
	}
	web := httptest.NewServer(server)
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

// A Live follows the list of a server that changes.
func ExampleUpstream_Watch() {
	ctx := context.Background()
	url, stop := somewhere()
	defer stop()

	u, err := upstream.Start(&upstream.Config{Name: "weather", URL: url}, nil)
	if err != nil {
		panic(err)
	}
	defer u.Close()
	live, err := toolpost.NewLive(ctx, toolpost.Prefix(u, "far_"))
	if err != nil {
		panic(err)
	}
	defer live.Close()
	changed := make(chan bool, 99)
	defer live.Watch(func(toolpost.Event) { changed <- true })()
	for live.Lookup("far_weather") == nil {
		<-changed
	}
	fmt.Println(live.CallText(ctx, "far_weather", map[string]string{"city": "Oslo"}))
	// Output: Sunny in Oslo <nil>
}
