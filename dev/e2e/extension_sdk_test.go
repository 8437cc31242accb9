package e2e_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost/internal/wire"
)

type searchParams struct {
	mcp.ParamsBase
	Query string `json:"query"`
}

type searchResult struct {
	mcp.ResultBase
	Hits []string `json:"hits"`
}

// sdkSearch is a server of the official SDK with an extension.
func sdkSearch(t *testing.T, stateless bool) string {
	caps := &mcp.ServerCapabilities{}
	caps.AddExtension("com.example/acme", map[string]any{"depth": 3})
	s := mcp.NewServer(&mcp.Implementation{Name: "search", Version: "1"}, &mcp.ServerOptions{Capabilities: caps})
	err := mcp.AddReceivingCustomMethod(s, "acme/search", func(_ context.Context, _ *mcp.ServerSession, p *searchParams) (*searchResult, error) {
		return &searchResult{Hits: []string{"found " + p.Query}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: stateless}))
	t.Cleanup(h.Close)
	return h.URL
}

// The official SDK on both sides: its client finds the extension of its server
// and calls its method, in every pairing of eras.
func TestExtensionsOfTheSDK(t *testing.T) {
	for _, server := range []string{wire.LastSession, wire.Stateless} {
		for _, client := range []string{wire.LastSession, wire.Stateless} {
			t.Run("server "+server+", client "+client, func(t *testing.T) {
				s := openGateway(t, fmt.Sprintf(`{"mcpServers":{"x":{"url":%q,"protocolVersion":%q,"prefix":""}}}`, sdkSearch(t, server == wire.Stateless), server))
				h := httptest.NewServer(s)
				defer h.Close()
				c := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil)
				if err := mcp.AddSendingCustomMethod[*searchParams, *searchResult](c, "acme/search"); err != nil {
					t.Fatal(err)
				}
				session, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: h.URL + "/mcp"}, &mcp.ClientSessionOptions{ProtocolVersion: client})
				if err != nil {
					t.Fatal(err)
				}
				defer session.Close()
				if got := session.InitializeResult().Capabilities.Extensions["com.example/acme"]; fmt.Sprint(got) != "map[depth:3]" {
					t.Errorf("declared %v", got)
				}
				result, err := mcp.CallCustomMethod[*searchParams, *searchResult](t.Context(), session, "acme/search", &searchParams{Query: "x"})
				if err != nil || fmt.Sprint(result.Hits) != "[found x]" {
					t.Errorf("got %+v, %v", result, err)
				}
			})
		}
	}
}
