package bench_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
)

// BenchmarkList lists 1,000 tools.
func BenchmarkList(b *testing.B) {
	type input struct {
		A, B, C string
		Limit   int  `json:"limit,omitempty" jsonschema:"most rows to return"`
		All     bool `json:"all,omitempty"`
	}
	ts := make(toolpost.Tools, 1000)
	for i := range ts {
		ts[i] = toolpost.New(fmt.Sprintf("tool%03d", i), "Do one of a thousand things, told in a sentence of some length.",
			func(context.Context, input) (string, error) { return "", nil }, nil)
	}
	s, err := mcpserver.New(b.Context(), ts, &mcpserver.Options{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	h := httptest.NewServer(s)
	b.Cleanup(func() {
		s.Close()
		h.CloseClientConnections()
		h.Close()
	})

	resp, _ := post(b, h.URL, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`)
	session := resp.Header.Get("Mcp-Session-Id")
	post(b, h.URL, session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	size := 0
	for b.Loop() {
		_, data := post(b, h.URL, session, `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`)
		size = len(data)
	}
	b.ReportMetric(float64(size), "bytes")
}

func post(b *testing.B, url, session, body string) (*http.Response, []byte) {
	b.Helper()
	req, err := http.NewRequest(http.MethodPost, url+"/mcp", strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		req.Header.Set("Mcp-Session-Id", session)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode/100 != 2 {
		b.Fatalf("%s: %s %.200s %v", body, resp.Status, data, err)
	}
	return resp, data
}
