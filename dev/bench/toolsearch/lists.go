package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/schema/dialect"
	"github.com/toolpost/toolpost/upstream"
)

// A stack is a gateway over servers of the corpus, each reached over HTTP.
type stack struct {
	gateway *gateway.Gateway
	address string
	close   []func()
}

// open starts the servers, and a gateway with this search.
func open(ctx context.Context, all []*server, search config.Search) (s *stack, err error) {
	s = &stack{}
	defer func() {
		if err != nil {
			s.end()
		}
	}()
	quiet := slog.New(slog.DiscardHandler)
	cfg := &config.Config{Search: search}
	for _, one := range all {
		address, err := s.serve(ctx, one.tools, &mcpserver.Options{Name: one.name, Logger: quiet})
		if err != nil {
			return s, fmt.Errorf("serve %s: %w", one.name, err)
		}
		cfg.Servers = append(cfg.Servers, config.Server{Config: upstream.Config{Name: one.name, URL: address + "/mcp"}})
	}
	if s.gateway, err = gateway.Start(ctx, cfg, &gateway.Options{Logger: quiet}); err != nil {
		return s, fmt.Errorf("open the gateway: %w", err)
	}
	s.close = append(s.close, func() { _ = s.gateway.Close() }) // the measurement is done
	if err := s.gateway.Ready(ctx); err != nil {
		return s, fmt.Errorf("wait for the servers: %w", err)
	}
	s.address, err = s.serve(ctx, s.gateway, &mcpserver.Options{Logger: quiet, Views: s.gateway.Views()})
	if err != nil {
		return s, fmt.Errorf("serve the gateway: %w", err)
	}
	return s, nil
}

// serve serves a toolset over HTTP.
func (s *stack) serve(ctx context.Context, ts toolpost.Toolset, opts *mcpserver.Options) (address string, err error) {
	server, err := mcpserver.New(ctx, ts, opts)
	if err != nil {
		return "", err
	}
	listener := httptest.NewServer(server)
	s.close = append(s.close, func() {
		_ = server.Close()
		listener.CloseClientConnections()
		listener.Close()
	})
	return listener.URL, nil
}

func (s *stack) end() {
	for _, end := range slices.Backward(s.close) {
		end()
	}
}

// A listing is what one client gets.
type listing struct {
	tools, tokens int
	time          time.Duration // of tools/list, the median
}

// rounds is how often tools/list is measured.
const rounds = 51

// list lists the tools in a dialect, as a client does.
func (s *stack) list(ctx context.Context, id string) (l listing, err error) {
	var times []time.Duration
	for range rounds {
		begin := time.Now()
		tools, err := s.pages(ctx, id)
		if err != nil {
			return l, fmt.Errorf("list the tools in %s: %w", id, err)
		}
		times = append(times, time.Since(begin))
		l.tools, l.tokens = len(tools), 0
		for _, t := range tools {
			l.tokens += (len(t) + 3) / 4 // as dialect.Tokens estimates them
		}
	}
	slices.Sort(times)
	l.time = times[len(times)/2]
	return l, nil
}

// pages returns the definitions of all pages of tools/list.
func (s *stack) pages(ctx context.Context, id string) (tools []json.RawMessage, err error) {
	cursor := ""
	for {
		var page struct {
			Result struct {
				Tools      []json.RawMessage
				NextCursor string
			}
			Error json.RawMessage
		}
		data, err := s.request(ctx, id, cursor)
		if err == nil {
			err = json.Unmarshal(data, &page)
		}
		switch {
		case err != nil:
			return nil, err
		case page.Error != nil:
			return nil, fmt.Errorf("it answers %s", page.Error)
		}
		tools = append(tools, page.Result.Tools...)
		if cursor = page.Result.NextCursor; cursor == "" {
			return tools, nil
		}
	}
}

// request sends one tools/list, without a session.
func (s *stack) request(ctx context.Context, id, cursor string) ([]byte, error) {
	params := map[string]any{"_meta": map[string]any{
		"io.modelcontextprotocol/protocolVersion":    version,
		"io.modelcontextprotocol/clientInfo":         map[string]string{"name": "bench", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
	}}
	if cursor != "" {
		params["cursor"] = cursor
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params})
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address+"/mcp/"+id, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Mcp-Protocol-Version": version, "Mcp-Method": "tools/list",
	} {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	return io.ReadAll(answer.Body)
}

const version = "2026-07-28"

// listTable compares what clients get with and without the search.
func listTable(ctx context.Context, all []*server) (string, error) {
	var b strings.Builder
	b.WriteString("| dialect | accepts | without search: tools | tokens | tools/list | with search: tools | tokens | tools/list |\n|---|---|---|---|---|---|---|---|\n")
	without, err := open(ctx, all, config.Search{Off: true})
	if err != nil {
		return "", err
	}
	defer without.end()
	with, err := open(ctx, all, config.Search{})
	if err != nil {
		return "", err
	}
	defer with.end()
	for _, d := range dialect.All() {
		most, tokens := d.MaxList()
		accepts := "any number"
		switch {
		case d.Defers:
			accepts = "any number, deferred"
		case d.ID == "mcp":
			accepts = "unknown"
		case len(d.Clients) == 0 && most == 0:
			continue // a model, for which the gateway lists as for unknown clients
		case most > 0:
			accepts = fmt.Sprintf("%d tools", most)
			if tokens > 0 {
				accepts += fmt.Sprintf(" with %d tokens in total", tokens)
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s |", d.ID, accepts)
		for _, s := range []*stack{without, with} {
			l, err := s.list(ctx, d.ID)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, " %d | %d | %.1f ms |", l.tools, l.tokens, float64(l.time.Microseconds())/1000)
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}
