package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http/httptest"
	"os"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/upstream"
)

// start serves tools with these names, and returns the address.
func start(names ...string) string {
	var tools toolpost.Tools
	for _, name := range names {
		tools = append(tools, toolpost.New(name, "Returns its name.", func(context.Context, struct{ City string }) (string, error) { return name, nil }, nil))
	}
	server, err := mcpserver.New(tools, nil)
	if err != nil {
		panic(err)
	}
	return httptest.NewServer(server.Handler()).URL + "/mcp"
}

// The program of the README, between a client and two servers. It runs until the
// test ends.
func Example() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	log.SetFlags(0)
	log.SetOutput(os.Stdout)
	os.Args = []string{"gateway", address, start("read_page", "write_page"), start("add_note")}
	go main()

	client, err := upstream.Start(&upstream.Config{Name: "client", URL: "http://" + address + "/mcp"}, &upstream.Options{Backoff: time.Millisecond})
	if err != nil {
		panic(err)
	}
	defer client.Close()
	changed := make(chan bool, 1000)
	defer client.Watch(func(toolpost.Event) { changed <- true })()
	for deadline := time.After(time.Minute); client.Status().State != upstream.Ready; {
		select {
		case <-changed:
		case <-deadline:
			panic(client.Status().Err)
		}
	}
	set, err := toolpost.NewSet(context.Background(), client)
	if err != nil {
		panic(err)
	}
	for _, name := range []string{"docs_read_page", "docs_write_page", "notes_add_note", "weather"} {
		if set.Lookup(name) == nil {
			fmt.Println("no", name)
			continue
		}
		fmt.Println(set.CallText(context.Background(), name, map[string]string{"City": "Oslo"}))
	}
	// Output:
	// call docs_read_page {"City":"Oslo"}
	// read_page <nil>
	// no docs_write_page
	// call notes_add_note {"City":"Oslo"}
	// add_note <nil>
	// call weather {"City":"Oslo"}
	// Sunny in Oslo <nil>
}
