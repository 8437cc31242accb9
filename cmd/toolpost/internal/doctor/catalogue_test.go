package doctor_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/doctor"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/lint"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
	"github.com/toolpost/toolpost/upstream"
)

func source(t *testing.T, tools ...toolpost.Definition) *lint.Source {
	t.Helper()
	book, err := dialect.NewBook(nil)
	if err != nil {
		t.Fatal(err)
	}
	src := &lint.Source{Title: "test", Book: book}
	for _, d := range tools {
		src.Tools = append(src.Tools, lint.NewTool(&toolpost.Tool{Definition: d}))
	}
	return src
}

func target(t *testing.T, src *lint.Source, id string) *dialect.Dialect {
	t.Helper()
	d, err := src.Book.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestCatalogue(t *testing.T) {
	plain := schema.MustParse(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`)
	odd := schema.MustParse(`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"string","format":"uri","pattern":"^x"}}}`)
	src := source(t,
		toolpost.Definition{Name: "plain", Description: "Reads a file.", Input: plain},
		toolpost.Definition{Name: "odd", Input: odd},
	)
	m, findings := doctor.Catalogue(src, []*dialect.Dialect{target(t, src, "mcp"), target(t, src, "codex"), target(t, src, "gemini-schema")}, "toolpost")
	if got := m.Tools[0].Clients["mcp"]; got != doctor.Unchanged {
		t.Errorf("plain is %s for mcp", got)
	}
	if got := m.Tools[1].Clients["codex"]; got == doctor.Unchanged || got == doctor.Withheld {
		t.Errorf("odd is %q for codex, although it has keywords that codex drops", got)
	}
	total := 0
	for _, c := range m.Clients {
		if n := c.Unchanged + c.Adapted + c.Narrowed + c.Withheld; n != 2 {
			t.Errorf("%s: %d of 2 tools are counted", c.ID, n)
		}
		total += c.Tokens
	}
	if m.Tokens() == 0 || total == 0 || m.Heaviest(1)[0].Name != "odd" {
		t.Errorf("tokens %d, %d, heaviest %s", m.Tokens(), total, m.Heaviest(1)[0].Name)
	}
	if got := strings.Join(ids(findings), ", "); !strings.Contains(got, "warning description-missing") {
		t.Errorf("findings: %s", got)
	}
	for _, f := range findings {
		if f.Fix == "" {
			t.Errorf("%s has no fix", f.ID)
		}
	}
}

// A tool that no client can get for one reason is one finding, which names the clients.
func TestCatalogueMergesWithheldTools(t *testing.T) {
	never := schema.MustParse(`{"type":"object","properties":{"a":false},"required":["a"]}`)
	src := source(t, toolpost.Definition{Name: "never", Description: "Cannot be called.", Input: never})
	m, findings := doctor.Catalogue(src, []*dialect.Dialect{target(t, src, "codex"), target(t, src, "gemini"), target(t, src, "openai")}, "toolpost")
	withheld, clients := 0, 0
	for _, f := range findings {
		if f.ID == "tool-withheld" {
			withheld++
			clients += 1 + strings.Count(f.Client, ", ")
		}
	}
	want := 0
	for _, c := range m.Clients {
		want += c.Withheld
	}
	if want < 2 || clients != want || withheld >= want {
		t.Errorf("%d findings name %d clients, want %d: %+v", withheld, clients, want, findings)
	}
}

func TestServers(t *testing.T) {
	status := []upstream.Status{
		{Name: "good", State: upstream.Ready, Tools: 3, Took: time.Second},
		{Name: "slow", State: upstream.Ready, Tools: 1, Took: 12 * time.Second},
		{Name: "bad", State: upstream.Failed, Err: errors.New(`server "bad": refused`)},
		{Name: "waits", State: upstream.Connecting},
		{Name: "off", State: upstream.Disabled},
	}
	servers, findings := doctor.Servers(status)
	if got := strings.Join(ids(findings), ", "); got != "warning server-slow, error server-failed, error server-waiting" {
		t.Error(got)
	}
	if len(servers) != 5 || servers[0].StartMS != 1000 || servers[2].Error != "refused" {
		t.Errorf("%+v", servers)
	}
}

// A server that wants a login is reported with the command that logs in.
func TestServerNeedsLogin(t *testing.T) {
	_, findings := doctor.Servers([]upstream.Status{
		{Name: "tracker", State: upstream.NeedsLogin, Err: fmt.Errorf("connect: %w", &upstream.LoginError{Command: "toolpost login tracker"})},
	})
	if got := strings.Join(ids(findings), ", "); got != "error login-needed" {
		t.Fatal(got)
	}
	if f := findings[0]; f.Fix != "toolpost login tracker" || f.Server != "tracker" || !strings.Contains(f.Message, "needs a login") {
		t.Errorf("%+v", f)
	}
}

func TestGateway(t *testing.T) {
	s := &gateway.Snapshot{
		Withheld: []gateway.WithheldTool{{Server: "a", Tool: "t", Name: "a__t", Why: "it changed"}},
		Findings: []toolpost.Finding{{Message: "toolpost.json:1:2: about the file"}, {Message: `quiet: "x*" matches no tool`}},
	}
	findings := doctor.Gateway(s, "toolpost.json", func(server string) string { return "toolpost approve " + server })
	if got := strings.Join(ids(findings), ", "); got != "error pin-changed, warning filter-unused" {
		t.Error(got)
	}
	if findings[0].Fix != "toolpost approve a" {
		t.Errorf("fix: %q", findings[0].Fix)
	}
}

func TestClaudeCode(t *testing.T) {
	src := source(t, toolpost.Definition{Name: "plain", Description: "Reads a file.", Input: schema.MustParse(`{"type":"object"}`)})
	m, _ := doctor.Catalogue(src, []*dialect.Dialect{target(t, src, "claude-code")}, "toolpost")
	tests := []struct {
		name, search, base string
		active             bool
	}{
		{"default", "", "", true},
		{"Anthropic's address", "", "https://api.anthropic.com/v1", true},
		{"another address", "", "http://127.0.0.1:4000", false},
		{"a host that looks like Anthropic's", "", "https://anthropic.com.example.org", false},
		{"another address and switched on", "true", "http://127.0.0.1:4000", true},
		{"switched off", "false", "", false},
	}
	for _, tt := range tests {
		env := map[string]string{"ENABLE_TOOL_SEARCH": tt.search, "ANTHROPIC_BASE_URL": tt.base}
		d, findings := m.ClaudeCode(func(name string) string { return env[name] })
		if d.Active != tt.active || d.Tokens == 0 || (len(findings) > 0) == tt.active {
			t.Errorf("%s: %+v, %v", tt.name, d, findings)
		}
	}
}

func TestReport(t *testing.T) {
	src := source(t, toolpost.Definition{Name: "odd\x1b[31m", Description: "Reads.", Input: schema.MustParse(`{"type":"object"}`)})
	r := doctor.NewReport("toolpost.json")
	m, _ := doctor.Catalogue(src, []*dialect.Dialect{target(t, src, "mcp")}, "toolpost")
	r.SetMatrix(m)
	var text bytes.Buffer
	if err := r.WriteText(&text, true); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), "Nothing to fix.") || strings.Contains(text.String(), "\x1b") || !strings.Contains(text.String(), "a mcp") {
		t.Errorf("%q", text.String())
	}
	raw, err := json.Marshal(doctor.NewReport("x"))
	if err != nil || strings.Contains(string(raw), "null") {
		t.Errorf("an empty report has null for a list: %s, %v", raw, err)
	}
}
