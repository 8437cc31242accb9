package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/upstream"
)

const token = "sample-token-0123456789abcdef0123456789"

// start serves tools with these names, and returns the address.
func start(names ...string) string {
	var tools toolpost.Tools
	for _, name := range names {
		tools = append(tools, toolpost.New(name, "Returns its name.", func(context.Context, struct{ City string }) (string, error) { return name, nil }, nil))
	}
	server, err := mcpserver.New(context.Background(), tools, nil)
	if err != nil {
		panic(err)
	}
	return httptest.NewServer(server).URL + "/mcp"
}

// The program of the README, between a client and two servers. Without the token it
// answers nothing, and calls are in the audit log.
func Example() {
	home, err := os.MkdirTemp("", "gateway")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(home)
	for name, value := range map[string]string{"HOME": home, "AppData": home, "LocalAppData": home, "XDG_CONFIG_HOME": home, "XDG_CACHE_HOME": home, "XDG_STATE_HOME": home,
		"TOOLPOST_TOKEN": token, "MCP_URLS": start("read_page") + "," + start("add_note")} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	slog.SetDefault(slog.New(slog.DiscardHandler))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- run(ctx, address) }()

	client, err := upstream.Start(&upstream.Config{Name: "client", URL: "http://" + address + "/mcp", Headers: map[string]string{"Authorization": "Bearer " + token}}, &upstream.Options{Backoff: time.Millisecond})
	if err != nil {
		panic(err)
	}
	defer client.Close()
	changed := make(chan bool, 1000)
	defer client.Watch(func(toolpost.Event) { changed <- true })()
	names := []string{"read_page", "add_note", "own__weather"}
	set := listed(client, changed, names)
	for _, name := range names {
		fmt.Println(set.CallText(ctx, name, map[string]string{"City": "Oslo"}))
	}
	answer, err := http.Post("http://"+address+"/mcp", "application/json", nil)
	if err != nil {
		panic(err)
	}
	_ = answer.Body.Close()
	fmt.Println("without the token:", answer.StatusCode)
	stop()
	fmt.Println(<-done)
	logs, err := filepath.Glob(filepath.Join(home, "toolpost", "audit", "*"))
	fmt.Println("there is an audit log:", len(logs) > 0, err)
	// Output:
	// read_page <nil>
	// add_note <nil>
	// Sunny in Oslo <nil>
	// without the token: 401
	// <nil>
	// there is an audit log: true <nil>
}

// listed waits until the client lists tools with all of these names.
func listed(client *upstream.Upstream, changed <-chan bool, names []string) *toolpost.Set {
	deadline := time.After(time.Minute)
	for {
		set, err := toolpost.NewSet(context.Background(), client)
		missing := err != nil
		for _, name := range names {
			missing = missing || set.Lookup(name) == nil
		}
		if !missing {
			return set
		}
		select {
		case <-changed:
		case <-deadline:
			panic(client.Status().Err)
		}
	}
}
