package login_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/internal/access/vault"
	"github.com/toolpost/toolpost/internal/secret"
)

// A server that repeats the token of its login, also one that was renewed or is read from
// the vault, gets it into no error, state or log line.
func TestRepeatedTokens(t *testing.T) {
	w, v := newWorld(t), vault.Folder(t.TempDir())
	var sent []string // tokens
	w.inner = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil || m.ID == nil {
			rw.WriteHeader(http.StatusAccepted)
			return
		}
		answer := fmt.Sprintf(`"error":{"code":-32000,"message":"the session of key %s, %s, has ended"}`, token, strings.ToUpper(token[:1])+token[1:])
		switch m.Method {
		case "initialize":
			answer = `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`
		case "tools/list":
			answer = `"result":{"tools":[{"name":"add","inputSchema":{"type":"object"}}]}`
		case "tools/call":
			sent = append(sent, token)
		}
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(rw, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, answer)
	})
	if _, err := login.New(v, nil).Login(t.Context(), w.config(), nil, browser(t)); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	l := login.New(v, nil)
	l.Secrets = secret.NewValues(secret.Hidden)
	g, err := gateway.Start(secret.WithValues(t.Context(), l.Secrets), &config.Config{Servers: []config.Server{*w.config()}}, &gateway.Options{
		Logger: logger(&log),
		Credentials: func(cfg *config.Server) func(*http.Transport) http.RoundTripper {
			return l.Wrap(cfg, "toolpost login it", cfg.Wrap)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	var shown strings.Builder
	for range 2 {
		r, err := g.Live().Call(t.Context(), &toolpost.Call{Name: "it__add"})
		var refused *toolpost.ProtocolError
		if !errors.As(err, &refused) || !strings.Contains(refused.Message, "the session of key "+secret.Hidden) {
			t.Errorf("the client gets %v, %v", r, err)
		}
		fmt.Fprintln(&shown, err)
		for _, s := range g.Status() {
			fmt.Fprintf(&shown, "%+v\n", s)
		}
		w.expire() // the next call has another token
	}
	g.Close()
	if len(sent) != 2 || sent[0] == sent[1] {
		t.Fatalf("the server got the tokens %q", sent)
	}
	for _, token := range sent {
		if strings.Contains(shown.String()+log.String(), token) {
			t.Errorf("%q is shown in\n%s%s", token, shown.String(), log.String())
		}
	}
}
