package upstream_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/toolpost/toolpost/upstream"
)

// A server that refuses a version once, and names it as supported, is asked for
// it again and not initialized (MCP 2026-07-28, Versioning).
func TestVersionIsAskedForAgain(t *testing.T) {
	var discovered, initialized atomic.Int32
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(body, &m)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case m.Method == "initialize":
			initialized.Add(1)
			w.WriteHeader(http.StatusBadRequest)
		case m.Method == "server/discover" && discovered.Add(1) == 1:
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"],"requested":"x"}}}`, m.ID)
		case m.Method == "server/discover":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}`, m.ID)
		default:
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[]}}`, m.ID)
		}
	}))
	defer h.Close()
	u, err := upstream.Start(&upstream.Config{Name: "s", URL: h.URL, ProtocolVersion: "2026-07-28"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	if err := u.Ready(t.Context()); err != nil || initialized.Load() > 0 {
		t.Errorf("%v, and %d requests to initialize", err, initialized.Load())
	}
}
