//go:build unix

package live

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestAuthElicitation has a client of the official SDK show the login page, in both eras,
// for a call through toolpost serve --stdio whose login has ended.
func TestAuthElicitation(t *testing.T) {
	for name := range authServers {
		for _, version := range []string{"2025-11-25", "2026-07-28"} {
			t.Run(name+" "+version, func(t *testing.T) {
				t.Parallel()
				h := newHome(t, name)
				auth := `{}`
				if name == "oauth2-mock-server" { // it registers nobody
					auth = `{"clientId": "of a test"}`
				}
				config := filepath.Join(t.TempDir(), "toolpost.json")
				write(t, config, `{"mcpServers": {"tracker": {"url": "`+h.server.resource()+`", "auth": `+auth+`}}}`)
				h.login("--config", config)

				var asked, completed atomic.Int32
				refuses := atomic.Bool{}
				client := mcp.NewClient(&mcp.Implementation{Name: "live", Version: "1"}, &mcp.ClientOptions{
					Capabilities: &mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapabilities{URL: &mcp.URLElicitationCapabilities{}}},
					ElicitationHandler: func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
						asked.Add(1)
						if refuses.Load() {
							return &mcp.ElicitResult{Action: "decline"}, nil
						}
						go func() {
							if _, page, err := newBrowser().visit(t.Context(), r.Params.URL); err != nil {
								t.Errorf("the browser: %v\n%s", err, page)
							}
						}()
						return &mcp.ElicitResult{Action: "accept"}, nil
					},
					ElicitationCompleteHandler: func(context.Context, *mcp.ElicitationCompleteNotificationRequest) { completed.Add(1) },
				})
				cmd := exec.Command(h.toolpost, "serve", "--stdio", "--config", config)
				cmd.Env = append(os.Environ(), append(h.env, "SSH_CONNECTION=")...)
				s, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: version})
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				read := func() string {
					t.Helper()
					r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "tracker__read", Arguments: map[string]any{}})
					if err != nil {
						t.Fatal(err)
					}
					text, _ := r.Content[0].(*mcp.TextContent)
					return text.Text
				}
				if got := read(); got != "read something" || asked.Load() != 0 {
					t.Fatalf("with a login: %q, asked %d times", got, asked.Load())
				}
				h.must("Logged out of tracker", "logout", "tracker", "--config", config)
				refuses.Store(true)
				if got := read(); !strings.Contains(got, "toolpost login tracker") || asked.Load() != 1 {
					t.Errorf("refused: %q, asked %d times", got, asked.Load())
				}
				refuses.Store(false)
				if got := read(); got != "read something" || asked.Load() != 2 {
					t.Errorf("accepted: %q, asked %d times", got, asked.Load())
				}
				if version < "2026" { // later versions have no such notification
					until(t, "the client is notified", func() error {
						if completed.Load() != 1 {
							return fmt.Errorf("%d logins were reported as complete", completed.Load())
						}
						return nil
					})
				}
				h.must("logged in", "logins", "--config", config)
			})
		}
	}
}
