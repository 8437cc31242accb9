package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/upstream"
)

// Tools that a server adds without a notification are found when a client begins, and
// when it calls one: at most once a minute, and not by clients of other profiles.
func TestUnannouncedTools(t *testing.T) {
	var tools, lists atomic.Int64
	tools.Store(1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.NewDecoder(r.Body).Decode(&m)
		answer := `{"content":[]}`
		switch {
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		case m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
			return
		case m.Method == "initialize":
			answer = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"x","version":"1"}}`
		case m.Method == "tools/list":
			lists.Add(1)
			var all []string
			for i := range tools.Load() {
				all = append(all, fmt.Sprintf(`{"name":"t%d","inputSchema":{}}`, i))
			}
			answer = `{"tools":[` + strings.Join(all, ",") + `]}`
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, answer)
	}))
	defer srv.Close()
	cfg := &config.Config{Servers: []config.Server{{Config: upstream.Config{Name: "s", URL: srv.URL, Transport: upstream.HTTP, ProtocolVersion: "2025-11-25"}}},
		Profiles: []config.Profile{{Name: "none", Servers: []string{"other"}}}}
	g, err := gateway.Start(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if err := g.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	tools.Store(2)
	if g.Views().Relist(t.Context(), observe.Client{View: "none"}, "s__t1") || lists.Load() != 1 {
		t.Error("a client of another profile had the server asked")
	}
	if g.Views().Relist(t.Context(), observe.Client{}, "other__t1") || lists.Load() != 1 {
		t.Error("a name without the prefix of the server had it asked")
	}
	if !g.Views().Relist(t.Context(), observe.Client{}, "s__t1") || g.Live().Lookup("s__t1") == nil {
		t.Error("the tool is not known")
	}
	for range 10 {
		if g.Views().Relist(t.Context(), observe.Client{}, "s__t2") || g.Views().Relist(t.Context(), observe.Client{}, "") {
			t.Error("the server was asked twice within a minute")
		}
	}
	if n := lists.Load(); n != 2 {
		t.Errorf("the server listed %d times, want 2", n)
	}
}
