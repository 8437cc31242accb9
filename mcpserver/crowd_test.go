package mcpserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
)

// Many clients open sessions, call, ask, listen, cancel, leave and end them at
// once, while the tools change. Each gets its own answers.
func TestCrowd(t *testing.T) {
	s := serve(t, &mcpserver.Options{Limits: mcpserver.Limits{ClientSessions: 20}}, echoTool(), asker(nil))
	s.SetFeatures(&toolpost.Features{Prompts: []*toolpost.Prompt{{Name: "p"}}})
	var clients sync.WaitGroup
	for i := range 12 {
		clients.Go(func() {
			for round := range 8 {
				own := fmt.Sprintf("client-%d-%d", i, round)
				session := "Mcp-Session-Id: " + s.post(t, canElicit, "").header.Get("Mcp-Session-Id") + "\n"
				listening := s.events(t, t.Context(), "GET", "", session)
				e := s.post(t, `{"jsonrpc":"2.0","id":"`+own+`","method":"tools/call","params":{"name":"echo","arguments":{"x":"`+own+`"}}}`, session)
				if strings.Count(e.body, own) != 2 || strings.Count(e.body, "client-") != 2 {
					t.Errorf("%s got %d %s", own, e.status, e.body)
				}
				asked := s.events(t, t.Context(), "POST", askCall, session)
				id := idOf(t, <-asked)
				if round%2 == 0 {
					s.post(t, `{"jsonrpc":"2.0","id":`+id+`,"result":{"from":"`+own+`"}}`, session)
					if got := <-asked; !strings.Contains(got, own) {
						t.Errorf("%s asked, and got %s", own, got)
					}
				} else {
					s.post(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`, session)
				}
				if i == 0 {
					s.tools.set(t, echoTool(), asker(nil), textTool(own, "x"))
				}
				if e := s.do(t, "DELETE", "/mcp", "", session); e.status != http.StatusNoContent {
					t.Errorf("%s: DELETE: %d %s", own, e.status, e.body)
				}
				for range listening { // ends with the session
				}
				for range asked {
				}
			}
		})
	}
	clients.Wait()
}
