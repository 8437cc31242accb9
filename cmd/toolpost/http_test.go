package main

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/folder"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/owner"
	"github.com/toolpost/toolpost/upstream"
)

// TestHealth checks that the answer tells why a server is not ready.
func TestHealth(t *testing.T) {
	f, err := folder.Open(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Root.Close()
	withheld := []gateway.WithheldTool{{Server: "everything", Tool: "add"}, {Server: "everything", Tool: "sub"}, {Server: "other", Tool: "x"}}
	s := &service{
		live: f.Live, status: func() []upstream.Status { return listedServers },
		withheld:  func() []gateway.WithheldTool { return withheld },
		observing: observing{secrets: owner.NewSecrets()},
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
