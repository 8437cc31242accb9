package bench_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A client is the cheapest MCP client there is: it posts prepared bytes and
// looks at the answer only enough to know that it is one.
type client struct {
	url, version, session string
	http                  *http.Client
}

// The newest protocol version of each era: with sessions, and without.
const (
	sessions  = "2025-11-25"
	stateless = "2026-07-28"
)

func dial(b testing.TB, url, version string) *client {
	b.Helper()
	c := &client{url: url, version: version, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	b.Cleanup(c.http.CloseIdleConnections)
	if version == stateless {
		return c
	}
	resp, _ := c.post(b, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`)
	c.session = resp.Header.Get("Mcp-Session-Id")
	c.post(b, "", `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func (c *client) post(b testing.TB, tool, body string) (*http.Response, []byte) {
	req, err := http.NewRequest(http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Mcp-Protocol-Version", c.version)
	if c.version == stateless {
		req.Header.Set("Mcp-Method", "tools/call")
		req.Header.Set("Mcp-Name", tool)
	}
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
	}
	resp, err := c.http.Do(req)
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

func (c *client) call(b testing.TB, id int64, tool string) {
	meta := ""
	if c.version == stateless {
		meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	}
	_, data := c.post(b, tool, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{}%s}}`, id, tool, meta))
	if !bytes.Contains(data, []byte(`"content"`)) || bytes.Contains(data, []byte(`"isError":true`)) {
		b.Fatalf("answer %.300s", data)
	}
}

// load makes b.N calls from n clients and reports calls/s, p50 and p99.
func load(b *testing.B, url, version, tool string, n int) {
	clients := make([]*client, n)
	for i := range clients {
		clients[i] = dial(b, url, version)
		clients[i].call(b, 2, tool)
	}
	took := make([]time.Duration, b.N)
	var next atomic.Int64
	var wg sync.WaitGroup
	b.ResetTimer()
	for _, c := range clients {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				start := time.Now()
				c.call(b, i+2, tool)
				took[i-1] = time.Since(start)
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}
