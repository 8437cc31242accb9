package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/upstream"
)

// An error that asks to open an address first (-32042) reaches the client as its server
// sent it. It is about the server's own login, and Toolpost begins none.
func TestURLRequiredPasses(t *testing.T) {
	const data = `{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://app.example.com/connect?e","message":"Connect your account."}]}`
	needs := toolpost.New("connect", "Needs an account.", func(context.Context, struct{}) (string, error) {
		return "", &toolpost.ProtocolError{Code: -32042, Message: "connect your account", Data: json.RawMessage(data)}
	}, nil)
	front := listen(t, openGateway(t, `{"mcpServers":{"app":{"url":"`+serve(t, toolpost.Tools{needs})+`/mcp"}}}`))
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		u := connect(t, &upstream.Config{Name: "client", URL: front + "/mcp", Transport: upstream.HTTP, ProtocolVersion: version}, nil)
		set, err := toolpost.NewSet(t.Context(), u)
		if err != nil {
			t.Fatal(err)
		}
		person := &user{answer: `{"action":"accept"}`}
		_, err = set.Call(t.Context(), &toolpost.Call{Name: "app__connect", Caller: person})
		got, _ := errors.AsType[*toolpost.ProtocolError](err)
		if got == nil || got.Code != -32042 || got.Message != "connect your account" || string(got.Data) != data || len(person.asked) != 0 {
			t.Errorf("%s: got %v, the user was asked %q", version, err, person.asked)
		}
	}
}
