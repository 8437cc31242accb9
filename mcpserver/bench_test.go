package mcpserver_test

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
)

// BenchmarkCall calls a tool over HTTP, beside a handler that answers with the
// same bytes: the ratio is the cost of the server.
func BenchmarkCall(b *testing.B) {
	result := json.RawMessage(`{"content":[{"type":"text","text":"` + strings.Repeat("x", 1000) + `"}]}`)
	server, err := mcpserver.New(b.Context(), toolpost.Tools{rawTool("t", anyObject,
		func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return toolpost.RawResult(result), nil
		})}, &mcpserver.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	defer server.Close()
	h := httptest.NewServer(server)
	defer h.Close()
	floor := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write(result)
	}))
	defer floor.Close()

	body, modern := modernCall("t", `{"a":1}`, "")
	post := func(b *testing.B, client *http.Client, url, body, header string) string {
		req, err := http.NewRequest("POST", url, strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		for line := range strings.Lines(header) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			req.Header.Set(name, value)
		}
		resp, err := client.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		defer resp.Body.Close()
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != 200 {
			b.Fatal(resp.Status, err)
		}
		return resp.Header.Get("Mcp-Session-Id")
	}
	session := "Mcp-Protocol-Version: 2025-11-25\nMcp-Session-Id: " + post(b, h.Client(), h.URL+"/mcp", initialize, "")
	for _, bb := range []struct {
		name              string
		client            *http.Client
		url, body, header string
	}{
		{"floor", floor.Client(), floor.URL, body, modern},
		{"stateless", h.Client(), h.URL + "/mcp", body, modern},
		{"session", h.Client(), h.URL + "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"a":1}}}`, session},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				post(b, bb.client, bb.url, bb.body, bb.header)
			}
		})
	}
}
