package serve

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/upstream"
)

// TestHealth checks that the answer tells why a server is not ready.
func TestHealth(t *testing.T) {
	var tools toolpost.Tools
	for _, name := range []string{"a", "b", "c", "d"} {
		tools = append(tools, whoTool(name))
	}
	live, err := toolpost.NewLive(t.Context(), tools)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	servers := []upstream.Status{
		{Name: "everything", State: upstream.Ready, Transport: upstream.Stdio, Version: "2025-11-25", Tools: 12},
		{Name: "a-server-with-a-long-name", State: upstream.Connecting},
		{Name: "web\x1b[2J", State: upstream.Failed, Transport: upstream.HTTP, Err: errors.New("connect to http://127.0.0.1:1/mcp: connection refused; is the server running?")},
		{Name: "off", State: upstream.Disabled},
	}
	withheld := []gateway.WithheldTool{{Server: "everything", Tool: "add"}, {Server: "everything", Tool: "sub"}, {Server: "other", Tool: "x"}}
	s := &Endpoint{
		live: live, status: func() []upstream.Status { return servers },
		snapshot: func() *gateway.Snapshot { return &gateway.Snapshot{Withheld: withheld} },
		secrets:  owner.NewSecrets(),
	}
	w := httptest.NewRecorder()
	s.health(w, httptest.NewRequest(http.MethodGet, "/healthz", nil))
	want := `{"status":"ok","tools":4,"servers":[` +
		`{"name":"everything","state":"ready","transport":"stdio","protocolVersion":"2025-11-25","tools":12,"withheld":["add","sub"]},` +
		`{"name":"a-server-with-a-long-name","state":"connecting","tools":0},` +
		`{"name":"web\u001b[2J","state":"failed","transport":"http","tools":0,"error":"connect to http://127.0.0.1:1/mcp: connection refused; is the server running?"},` +
		`{"name":"off","state":"disabled","tools":0}]}` + "\n"
	if got := w.Body.String(); got != want {
		t.Errorf("got %s", got)
	}
}
