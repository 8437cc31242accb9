package mcpserver_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
)

type city struct {
	City string `json:"city"`
}

func weather() toolpost.Toolset {
	return toolpost.Tools{toolpost.New("weather", "Returns the weather of a city.",
		func(_ context.Context, in city) (string, error) { return "Sunny in " + in.City, nil }, nil)}
}

// Tools are served over streamable HTTP at /mcp and over SSE at /sse, here beside
// other pages of a program.
func ExampleServer() {
	server, err := mcpserver.New(context.Background(), weather(), &mcpserver.Options{Name: "weather", Version: "1.0.0"})
	if err != nil {
		panic(err)
	}
	defer server.Close()

	mux := http.NewServeMux()
	mux.Handle("/mcp", server)
	mux.Handle("/sse", server)
	web := httptest.NewServer(mux) // http.ListenAndServe in a program
	defer web.Close()

	request := strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{
		"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"example","version":"1"}}}`)
	r, err := http.NewRequest(http.MethodPost, web.URL+"/mcp", request)
	if err != nil {
		panic(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	fmt.Println(answer.StatusCode, strings.Contains(string(body), `"name":"weather"`), err)
	// Output: 200 true <nil>
}

// A program that a client starts speaks MCP on its standard input and output. It
// must write nothing else there.
func ExampleServer_ServeStdio() {
	ctx := context.Background()
	server, err := mcpserver.New(ctx, weather(), nil)
	if err != nil {
		panic(err)
	}
	defer server.Close()
	if err := server.ServeStdio(ctx, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
