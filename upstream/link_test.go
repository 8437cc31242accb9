package upstream

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// An asked caller counts what reaches the client.
type asked struct{ n int }

func (a *asked) Request(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	a.n++
	return json.RawMessage(`{"action":"accept"}`), nil
}

func (a *asked) Notify(context.Context, string, json.RawMessage) error { return nil }

// TestElicitationAddresses checks which addresses a server may have a person
// open, in both ways to ask for it.
func TestElicitationAddresses(t *testing.T) {
	for address, allowed := range map[string]bool{
		"https://example.org/login?x=1": true, "http://localhost:3000/login": true, "http://127.0.0.1/": true, "http://[::1]:9/": true,
		"javascript:alert(1)": false, "file:///etc/passwd": false, "http://example.org/": false, "http://10.1.2.3/": false,
		"vscode://x/y": false, "https://": false, "https://user@example.org/": false, "//example.org": false, "": false,
		"ht\ttps://example.org": false, "data:text/html,x": false, "HTTPS://example.org/": true, "http://localhost.example.org/": false,
	} {
		var client asked
		elicitation, err := json.Marshal(map[string]string{"mode": "url", "message": "open it", "elicitationId": "1", "url": address})
		if err != nil {
			t.Fatal(err)
		}
		_, err = question(t.Context(), &client, "elicitation/create", elicitation)
		if (err == nil) != allowed || (client.n == 1) != allowed {
			t.Errorf("%q: asked %d times, %v", address, client.n, err)
		}
		data := json.RawMessage(`{"elicitations":[{"mode":"url","url":"https://example.org"},` + string(elicitation) + `]}`)
		got := protocolError(&jsonrpc.Error{Code: codeURLRequired, Message: "open it", Data: data})
		if (got.Code == codeURLRequired) != allowed {
			t.Errorf("%q: the error is %v", address, got)
		}
	}
	for _, form := range []string{`{"message":"name?","requestedSchema":{}}`, `{"mode":"form","message":"url"}`} {
		var client asked
		if _, err := question(t.Context(), &client, "elicitation/create", json.RawMessage(form)); err != nil || client.n != 1 {
			t.Errorf("%s: %v", form, err)
		}
	}
	for _, odd := range []string{`{"mode":"url"}`, `{"mode":"url","url":["javascript:alert(1)"]}`, `{"url":"javascript:alert(1)"}`} {
		var client asked
		if _, err := question(t.Context(), &client, "elicitation/create", json.RawMessage(odd)); err == nil || client.n != 0 {
			t.Errorf("%s is passed on", odd)
		}
	}
}
