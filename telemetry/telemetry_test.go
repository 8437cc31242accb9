package telemetry_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/upstream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secret is in the arguments, results and credentials of the tests.
const secret = "hunter2-5f0c"

// A chain is a client, a gateway and a server, each over real HTTP.
type chain struct {
	client  *mcp.ClientSession
	gateway *gateway.Gateway

	mu   sync.Mutex
	meta json.RawMessage // of the last call that the server got
}

func (c *chain) lastMeta() json.RawMessage {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.meta
}

func newChain(t *testing.T, observer observe.Observer, around func(*observe.Target, toolpost.Handler) toolpost.Handler) *chain {
	t.Helper()
	c := &chain{}
	tool := func(name string, h toolpost.Handler) *toolpost.Tool {
		return &toolpost.Tool{
			Definition: toolpost.Definition{Name: name, Input: schema.MustParse(`{"type":"object"}`)},
			Policy:     toolpost.Policy{SkipValidation: true},
			Handler: func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
				var params struct {
					Meta json.RawMessage `json:"_meta"`
				}
				if err := json.Unmarshal(call.Params, &params); err != nil {
					return nil, err
				}
				c.mu.Lock()
				c.meta = params.Meta
				c.mu.Unlock()
				return h(ctx, call)
			},
		}
	}
	server := serve(t, toolpost.Tools{
		tool("works", func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return toolpost.TextResult(secret), nil
		}),
		tool("fails", func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return nil, toolpost.Failed.Errorf("%s", secret)
		}),
		tool("refuses", func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return nil, &toolpost.ProtocolError{Code: -32050, Message: secret}
		}),
	}, nil)
	prefix := "up__"
	cfg := &config.Config{Servers: []config.Server{{
		Config: upstream.Config{Name: "up", URL: server + "/mcp", Headers: map[string]string{"Authorization": "Bearer " + secret}}, Prefix: &prefix,
	}}}
	g, err := gateway.Start(t.Context(), cfg, &gateway.Options{Logger: slog.New(slog.DiscardHandler), Around: []gateway.Around{around}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := g.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.gateway = g
	own := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(own.CloseIdleConnections)
	client := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "9"}, nil)
	c.client, err = client.Connect(t.Context(), &mcp.StreamableClientTransport{
		Endpoint: serve(t, g.Live(), &mcpserver.Options{Observe: observer}) + "/mcp", HTTPClient: &http.Client{Transport: own}, MaxRetries: -1,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.client.Close() }) // the server may have closed it
	return c
}

// serve returns the address of a server for ts.
func serve(t *testing.T, ts toolpost.Toolset, opts *mcpserver.Options) string {
	t.Helper()
	s, err := mcpserver.New(t.Context(), ts, opts)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		_ = s.Close() // ends the streams that web would wait for
		web.Close()
	})
	return web.URL
}

// calls makes one call of each outcome.
func (c *chain) calls(t *testing.T) {
	t.Helper()
	for _, name := range []string{"up__works", "up__fails", "up__refuses", "no_such_tool_" + secret} {
		_, _ = c.client.CallTool(t.Context(), &mcp.CallToolParams{ // the outcome is what is observed
			Name: name, Arguments: map[string]any{"password": secret},
		})
	}
}
