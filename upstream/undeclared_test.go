package upstream_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/upstream"
)

// What a server lists is used, whatever it declares, and a finding says that it does
// not declare it. A server that lists nothing more need not know the methods.
func TestUndeclaredLists(t *testing.T) {
	const all = "tools/list prompts/list resources/list resources/templates/list"
	for _, test := range []struct {
		capabilities, lists string
		refuse              int // status for what is not listed
		want                string
		findings            int
	}{
		{`{"tools":{}}`, all, 200, "t", 0},
		{`{"tools":{},"prompts":{},"resources":{}}`, all, 200, "t p x://r", 0},
		{`{}`, all, 200, "t p x://r", 4},
		{`null`, all, 200, "t p x://r", 4},
		{`[]`, "tools/list", 200, "t", 1},
		{`{"tools":true}`, "tools/list", 404, "t", 1},
		{`{"tools":[],"prompts":"yes"}`, "tools/list prompts/list", 400, "t p", 2},
		{`{"tools":null,"prompts":{}}`, "tools/list prompts/list", 200, "t p", 1},
		{`{"prompts":{}}`, "prompts/list", 200, "p", 0},
		{`{"prompts":{}}`, "prompts/list", 404, "p", 0},
		{`{"logging":{}}`, "", 405, "", 0},
	} {
		srv := serve(t, classic(test.capabilities, func(w http.ResponseWriter, r *http.Request, m *message) {
			w.Header().Set("Content-Type", "application/json")
			switch {
			case r.Method != http.MethodPost:
				w.WriteHeader(http.StatusMethodNotAllowed)
			case m.ID == nil:
				w.WriteHeader(http.StatusAccepted)
			case strings.HasSuffix(m.Method, "/list") && strings.Contains(test.lists, m.Method):
				result(w, m, `{"tools":[{"name":"t","inputSchema":{}}],"prompts":[{"name":"p"}],"resources":[{"name":"r","uri":"x://r"}],"resourceTemplates":[{"name":"r","uriTemplate":"x://{a}"}]}`)
			default:
				w.WriteHeader(test.refuse)
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, m.ID)
			}
		}))
		s := start(t, &upstream.Config{URL: srv.URL, Transport: upstream.HTTP, ProtocolVersion: "2025-11-25"}).ready(t)
		names := []string{s.names(t)}
		f := s.Features()
		for _, p := range f.Prompts {
			names = append(names, p.Name)
		}
		for _, r := range f.Resources {
			if !r.Template {
				names = append(names, r.URI)
			}
		}
		if got := strings.TrimSpace(strings.Join(names, " ")); got != test.want {
			t.Errorf("%s: got %q, want %q", test.capabilities, got, test.want)
		}
		if got := s.Status().Skipped; len(got) != test.findings {
			t.Errorf("%s: findings %v", test.capabilities, got)
		}
		if test.capabilities == "null" && !strings.Contains(string(f.ServerCapabilities), `"tools":{}`) {
			t.Errorf("a bridge would announce %s", f.ServerCapabilities)
		}
		opts := delayed(1 << 40)
		opts.Known = s.Known()
		again, err := upstream.Start(&upstream.Config{Name: "srv", Command: "no-such-command"}, &opts)
		if err != nil {
			t.Fatal(err)
		}
		tools, _ := again.Tools(t.Context())
		if (len(tools) == 1) != strings.Contains(test.want, "t") || len(again.Features().Prompts) != len(f.Prompts) || len(again.Features().Resources) != len(f.Resources) {
			t.Errorf("%s: another start remembers %d tools, %d prompts and %d resources", test.capabilities, len(tools), len(again.Features().Prompts), len(again.Features().Resources))
		}
		again.Close()
	}
}
