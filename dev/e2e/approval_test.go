package e2e_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/upstream"
)

// A user answers what the gateway asks, and remembers it.
type user struct {
	mu     sync.Mutex
	asked  []string
	answer string
}

func (*user) Notify(context.Context, string, json.RawMessage) error { return nil }

func (u *user) Request(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.asked = append(u.asked, method+" "+string(params))
	return json.RawMessage(u.answer), nil
}

// A rule that asks puts its question to the client's user over every transport and in
// both eras: the call runs after a yes, once, and with the arguments that were shown.
func TestApprovalOverTheWire(t *testing.T) {
	var mu sync.Mutex
	var ran []string
	write := toolpost.New("write", "Writes.", func(_ context.Context, in struct {
		Path string `json:"path"`
	}) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		ran = append(ran, in.Path)
		return "written", nil
	}, nil)
	s := openGateway(t, `{"mcpServers":{"files":{"url":"`+serve(t, toolpost.Tools{write})+`/mcp"}},
		"approvals":[{"action":"allow","arguments":{"path":"/drafts/*"}},{"action":"ask","reason":"it changes files"}]}`)
	front := listen(t, s)
	for _, client := range []upstream.Config{
		{Name: "modern", URL: front + "/mcp", Transport: upstream.HTTP, ProtocolVersion: "2026-07-28"},
		{Name: "classic", URL: front + "/mcp", Transport: upstream.HTTP, ProtocolVersion: "2025-11-25"},
		{Name: "old", URL: front + "/sse", Transport: upstream.SSE},
	} {
		t.Run(client.Name, func(t *testing.T) {
			c := connect(t, &client, nil)
			ran = nil
			for _, test := range []struct {
				path, answer string
				asks         int
				want, runs   string
			}{
				{"/drafts/a", "", 0, "written", "/drafts/a"},
				{"/etc/a", `{"action":"accept","content":{"approve":true}}`, 1, "written", "/drafts/a /etc/a"},
				{"/etc/a", `{"action":"decline"}`, 1, "This call was not executed: the user declined it.", "/drafts/a /etc/a"},
				{"/etc/b", `{"action":"accept","content":{"approve":false}}`, 1, "This call was not executed: the user declined it.", "/drafts/a /etc/a"},
				{"/etc/b", `{"action":"accept","content":{"approve":true}}`, 1, "written", "/drafts/a /etc/a /etc/b"},
			} {
				u := &user{answer: test.answer}
				got := call(t, c, &toolpost.Call{Name: "files__write", Arguments: json.RawMessage(`{"path":"` + test.path + `"}`), Caller: u})
				if !strings.HasPrefix(got, test.want) || strings.Join(ran, " ") != test.runs || len(u.asked) != test.asks {
					t.Errorf("%s, %s: %q, ran %q, asked %q", test.path, test.answer, got, ran, u.asked)
				}
				for _, question := range u.asked {
					for _, part := range []string{"elicitation/create ", test.path, "write", "files", "it changes files"} {
						if !strings.Contains(question, part) {
							t.Errorf("the question has not %q: %s", part, question)
						}
					}
				}
			}
			if got := call(t, c, &toolpost.Call{Name: "files__write", Arguments: json.RawMessage(`{"path":"/etc/c"}`)}); !strings.Contains(got, "cannot") || strings.Contains(strings.Join(ran, " "), "/etc/c") {
				t.Errorf("without a user: %q, ran %q", got, ran)
			}
		})
	}
}
