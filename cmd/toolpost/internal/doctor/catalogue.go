package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/lint"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/schema/dialect"
)

// A Fit is how one client or model gets one tool.
type Fit string

// The fits, from the best to the worst.
const (
	Unchanged Fit = "unchanged" // as the server defines it
	Adapted   Fit = "adapted"   // written in another way; nothing is lost
	Narrowed  Fit = "narrowed"  // a constraint or a part of a text is lost
	Withheld  Fit = "withheld"  // not at all
)

// A Client is what one client or model gets of all tools.
type Client struct {
	ID        string `json:"id"` // of its dialect
	Title     string `json:"title"`
	Unchanged int    `json:"unchanged"` // number of tools
	Adapted   int    `json:"adapted"`
	Narrowed  int    `json:"narrowed"`
	Withheld  int    `json:"withheld"`
	Tokens    int    `json:"tokens"` // of all definitions that it gets, estimated
}

// A Tool is how all clients get one tool.
type Tool struct {
	Name    string         `json:"name"`
	Tokens  int            `json:"tokens"` // of its definition, estimated
	Clients map[string]Fit `json:"clients"`
}

// A Matrix shows which tools which clients and models get.
type Matrix struct {
	Clients []Client
	Tools   []Tool // in the order of the source

	rows     map[string]*Tool
	withheld map[[2]string]*Finding // by tool and reason: several clients can have the same
	order    [][2]string
	fixes    map[string]string // of rules
}

// Catalogue adapts the tools of a source to every target, as the gateway does,
// and examines the result. Server is the name under which clients know the
// gateway; it counts in the length of names.
func Catalogue(src *lint.Source, targets []*dialect.Dialect, server string) (*Matrix, []Finding) {
	m := &Matrix{rows: map[string]*Tool{}, withheld: map[[2]string]*Finding{}, fixes: map[string]string{}}
	for _, r := range dialect.Rules() {
		m.fixes[r.Name] = r.Fix
	}
	var findings []Finding
	for _, t := range src.Tools {
		if t.Tool == nil {
			continue
		}
		row := Tool{Name: t.Name, Tokens: dialect.Tokens(t.Tool), Clients: map[string]Fit{}}
		m.Tools = append(m.Tools, row)
		if strings.TrimSpace(t.Description) == "" {
			findings = append(findings, Finding{ID: "description-missing", Severity: Warning, Tool: t.Name,
				Message: "the tool has no description, so models and tool searches know only its name",
				Fix:     m.fixes["description-missing"] + ` In the configuration, "tools": {"NAME": {"description": "…"}} in the entry of its server gives it one.`})
		}
	}
	for i := range m.Tools {
		m.rows[m.Tools[i].Name] = &m.Tools[i]
	}
	for _, d := range targets {
		findings = append(findings, m.add(lint.Adapt(src, d, &dialect.Options{Server: server}))...)
	}
	for _, key := range m.order {
		findings = append(findings, *m.withheld[key])
	}
	return m, findings
}

// add enters what one client gets.
func (m *Matrix) add(a *lint.Adapted) (findings []Finding) {
	d := a.Dialect
	c := Client{ID: d.ID, Title: d.Title, Withheld: len(a.Withheld), Tokens: a.Tokens}
	for _, t := range a.Tools {
		fit := Unchanged
		switch {
		case slices.ContainsFunc(a.Losses(t), func(l dialect.Loss) bool { return !l.Kind.Exact() }):
			fit = Narrowed
			c.Narrowed++
		case t.Changed():
			fit = Adapted
			c.Adapted++
		default:
			c.Unchanged++
		}
		m.set(t.Original.Name, d.ID, fit)
	}
	for _, w := range a.Withheld {
		m.set(w.Name, d.ID, Withheld)
		m.withhold(d.ID, &w)
	}
	if c.Narrowed > 0 {
		findings = append(findings, Finding{ID: "definition-narrowed", Severity: Note, Client: d.ID,
			Message: terminal.Count(c.Narrowed, "tool") + " lost a constraint or a part of a text for this client; calls are still checked against the original",
			Fix:     fmt.Sprintf("to see what was lost: toolpost lint --for %s", d.ID)})
	}
	for _, f := range a.Findings {
		findings = append(findings, m.listFinding(d, &f))
	}
	m.Clients = append(m.Clients, c)
	return findings
}

func (m *Matrix) set(tool, client string, fit Fit) {
	if row := m.rows[tool]; row != nil {
		row.Clients[client] = fit
	}
}

// withhold records that one client does not get a tool. Clients that do not get
// it for the same reason are named in one finding.
func (m *Matrix) withhold(client string, w *dialect.Withheld) {
	key := [2]string{w.Name, w.Why}
	if f := m.withheld[key]; f != nil {
		f.Client += ", " + client
		return
	}
	_, rule, _ := strings.Cut(w.Rule, "/")
	m.order = append(m.order, key)
	m.withheld[key] = &Finding{ID: "tool-withheld", Severity: Warning, Tool: w.Name, Client: client,
		Message: "this client does not get the tool: " + w.Why, Fix: m.fixes[cmp.Or(rule, w.Rule)]}
}

// listFinding turns a finding about the list as a whole, such as too many tools, into
// one of doctor.
func (m *Matrix) listFinding(d *dialect.Dialect, f *dialect.Finding) Finding {
	_, rule, _ := strings.Cut(f.Rule, "/")
	severity := Warning
	if f.Effect.Refuses() {
		severity = Error
	}
	return Finding{ID: rule, Severity: severity, Tool: f.Tool, Client: d.ID, Message: f.Message, Fix: m.fixes[rule]}
}

// Tokens estimates the tokens of all definitions as the servers write them.
func (m *Matrix) Tokens() (n int) {
	for i := range m.Tools {
		n += m.Tools[i].Tokens
	}
	return n
}

// Heaviest returns the n tools whose definitions have the most tokens.
func (m *Matrix) Heaviest(n int) []Tool {
	tools := slices.Clone(m.Tools)
	sort.SliceStable(tools, func(i, j int) bool { return tools[i].Tokens > tools[j].Tokens })
	return tools[:min(n, len(tools))]
}

// client returns what one client gets, nil if it was not examined.
func (m *Matrix) client(id string) *Client {
	for i := range m.Clients {
		if m.Clients[i].ID == id {
			return &m.Clients[i]
		}
	}
	return nil
}
