// Command server is what the official MCP conformance suite tests: its fixture
// of tools, resources and prompts, served by package mcpserver.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"sync/atomic"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
)

func main() {
	addr := flag.String("http", "", "serve HTTP on this address instead of stdio")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := serve(ctx, *addr); err != nil {
		log.Fatal(err)
	}
}

func serve(ctx context.Context, addr string) error {
	f := &fixture{}
	server, err := mcpserver.New(ctx, f, &mcpserver.Options{Name: "toolpost-conformance", Version: "1.0.0"})
	if err != nil {
		return err
	}
	defer server.Close()
	go f.touch(ctx)
	if addr == "" {
		return server.ServeStdio(ctx, os.Stdin, os.Stdout)
	}
	h := &http.Server{Addr: addr, Handler: server, ReadHeaderTimeout: 10 * time.Second}
	defer context.AfterFunc(ctx, func() { _ = h.Close() })()
	if err := h.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// A fixture is the server under test, and how often its lists were changed.
type fixture struct {
	toolpost.Base
	toolChanges, promptChanges atomic.Int64
}

// Tools lists the fixture's tools, and one that differs after each change.
func (f *fixture) Tools(context.Context) ([]*toolpost.Tool, error) {
	all := slices.Concat(contentTools(), callbackTools(), inputTools(), f.changeTools())
	if n := f.toolChanges.Load(); n > 0 {
		all = append(all, toolpost.New("transient", fmt.Sprintf("Exists since change %d", n), nothing("here"), nil))
	}
	return all, nil
}

func (f *fixture) changeTools() []*toolpost.Tool {
	return []*toolpost.Tool{
		toolpost.New("test_trigger_tool_change", "Changes the list of tools", func(context.Context, none) (string, error) {
			f.toolChanges.Add(1)
			f.Notify(toolpost.Event{})
			return "the list of tools changed", nil
		}, nil),
		toolpost.New("test_trigger_prompt_change", "Changes the list of prompts", func(context.Context, none) (string, error) {
			f.promptChanges.Add(1)
			f.Notify(toolpost.Event{})
			return "the list of prompts changed", nil
		}, nil),
	}
}

// touch updates the watched resource until ctx ends.
func (f *fixture) touch(ctx context.Context) {
	tick := time.NewTicker(3 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			f.Notify(toolpost.Event{Resource: watchedURI})
		case <-ctx.Done():
			return
		}
	}
}
