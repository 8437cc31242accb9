package doctor

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// A Report is everything that doctor found out.
type Report struct {
	Source     string    `json:"source"` // the configuration, or the server that was named
	Errors     int       `json:"errors"`
	Warnings   int       `json:"warnings"`
	Servers    []Server  `json:"servers"`
	Serve      string    `json:"serve,omitempty"`   // the running serve that has the servers; "" if all were started
	Started    []string  `json:"started,omitempty"` // the servers that it does not have ready
	Clients    []Client  `json:"clients"`
	Tools      []Tool    `json:"tools"`
	Tokens     int       `json:"tokens"` // of all definitions as the servers write them, estimated
	ClaudeCode *Deferral `json:"claudeCode,omitempty"`
	Access     string    `json:"access,omitempty"` // who can call what toolpost serves
	Vault      *Vault    `json:"vault,omitempty"`  // where secrets are kept
	Findings   []Finding `json:"findings"`
	matrix     *Matrix
}

// NewReport returns an empty report.
func NewReport(source string) *Report {
	return &Report{Source: source, Servers: []Server{}, Clients: []Client{}, Tools: []Tool{}, Findings: []Finding{}, matrix: &Matrix{}}
}

// SetMatrix enters what clients get.
func (r *Report) SetMatrix(m *Matrix) {
	r.matrix, r.Tokens = m, m.Tokens()
	r.Clients, r.Tools = append(r.Clients, m.Clients...), append(r.Tools, m.Tools...)
}

// Add adds findings.
func (r *Report) Add(findings ...Finding) {
	r.Findings = append(r.Findings, findings...)
	Sort(r.Findings)
	r.Errors, r.Warnings = Count(r.Findings, Error), Count(r.Findings, Warning)
}

// heaviest is how many of the heaviest tools are shown.
const heaviest = 5

// WriteText writes the report for people. Unless all is set, it leaves out what
// each client gets of each tool, notes, and repetitions.
func (r *Report) WriteText(w io.Writer, all bool) error {
	p := terminal.NewPage(w)
	p.Line("", fmt.Sprintf("%s: %s, %s, about %s tokens of definitions", r.Source,
		terminal.Count(len(r.Servers), "server"), terminal.Count(len(r.Tools), "tool"), groupDigits(r.Tokens)))
	r.writeServers(p)
	r.writeClients(p)
	if all {
		r.writeTools(p)
	}
	r.writeCosts(p)
	WriteFindings(p, r.Findings, all)
	p.Line("", "")
	if r.Errors == 0 && r.Warnings == 0 {
		p.WriteString(p.Paint("32", "Nothing to fix.") + "\n")
	} else {
		p.Line("", Summary(r.Findings)+".")
	}
	return p.Flush()
}

func (r *Report) writeServers(p *terminal.Page) {
	if len(r.Servers) == 0 {
		return
	}
	rows := [][]string{{"SERVER", "STATE", "TRANSPORT", "TOOLS", "START"}}
	for _, s := range r.Servers {
		start := "-"
		if s.StartMS > 0 {
			start = fmt.Sprintf("%.1f s", float64(s.StartMS)/1000)
		}
		rows = append(rows, []string{s.Name, s.State, dash(s.Transport), number(s.Tools), start})
	}
	p.Line("", "")
	writeTable(p, rows, 3)
	if r.Serve != "" {
		p.Line("", "")
		p.Line("", r.serveText())
	}
}

// serveText describes which servers are those of a running serve.
func (r *Report) serveText() string {
	text := "The servers are as the running serve at " + r.Serve + " has them"
	if len(r.Started) > 0 {
		text += ", but for " + strings.Join(r.Started, ", ") + ", which doctor started"
	}
	return text + "; --fresh starts all."
}

// writeClients writes one row for each client. Clients that get all tools as
// they are have one line together.
func (r *Report) writeClients(p *terminal.Page) {
	rows := [][]string{{"CLIENT", "UNCHANGED", "ADAPTED", "NARROWED", "WITHHELD", "TOKENS"}}
	var same []string
	for _, c := range r.Clients {
		if c.Adapted+c.Narrowed+c.Withheld == 0 {
			same = append(same, c.ID)
			continue
		}
		rows = append(rows, []string{c.ID, number(c.Unchanged), number(c.Adapted), number(c.Narrowed), number(c.Withheld), groupDigits(c.Tokens)})
	}
	if len(rows) > 1 {
		p.Line("", "")
		writeTable(p, rows, 1)
	}
	if len(same) > 0 && len(r.Tools) > 0 {
		p.Line("", "")
		p.Line("", "All tools unchanged: "+strings.Join(same, ", "))
	}
}

// marks show how a client gets a tool.
var marks = map[Fit]string{Unchanged: "=", Adapted: "~", Narrowed: "!", Withheld: "-", "": " "}

// writeTools writes a row for each tool, with one character for each client.
func (r *Report) writeTools(p *terminal.Page) {
	if len(r.Tools) == 0 || len(r.Clients) == 0 {
		return
	}
	head, ids := "", []string{}
	for i, c := range r.Clients {
		letter := letters[i%len(letters)]
		head += string(letter)
		ids = append(ids, fmt.Sprintf("%c %s", letter, c.ID))
	}
	rows := [][]string{{"TOOL", "TOKENS", head}}
	for _, t := range r.Tools {
		row := ""
		for _, c := range r.Clients {
			row += marks[t.Clients[c.ID]]
		}
		rows = append(rows, []string{t.Name, groupDigits(t.Tokens), row})
	}
	p.Line("", "")
	writeTable(p, rows, 1)
	p.Line("", "")
	p.Line("", strings.Join(ids, ", "))
	p.Line("", "= unchanged, ~ adapted, ! something is lost, - withheld")
}

// letters stand for clients in the table of tools.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// writeCosts writes what the definitions cost, who can call the tools, and where
// secrets are kept.
func (r *Report) writeCosts(p *terminal.Page) {
	p.Line("", "")
	var heavy []string
	for _, t := range r.matrix.Heaviest(heaviest) {
		heavy = append(heavy, fmt.Sprintf("%s %s", t.Name, groupDigits(t.Tokens)))
	}
	if len(heavy) > 0 {
		p.Line("Heaviest     ", strings.Join(heavy, ", "))
	}
	if d := r.ClaudeCode; d != nil {
		state := "loads all tools at once"
		if d.Active {
			state = "defers tools"
		}
		p.Line("Claude Code  ", fmt.Sprintf("%s: %s; all definitions are about %s tokens", state, d.Reason, groupDigits(d.Tokens)))
	}
	if r.Access != "" {
		p.Line("Access       ", r.Access)
	}
	if r.Vault != nil {
		p.Line("Secrets      ", r.Vault.text())
	}
}

// writeTable aligns columns; those from right on hold numbers.
func writeTable(p *terminal.Page, rows [][]string, right int) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], terminal.Width(cleartext.Printable(cell)))
		}
	}
	widths[0] = min(widths[0], max(20, p.Width-40))
	for _, row := range rows {
		var b strings.Builder
		for i, cell := range row {
			cell = terminal.Cut(cleartext.Printable(cell), widths[i])
			pad := strings.Repeat(" ", widths[i]-terminal.Width(cell))
			if i > 0 {
				b.WriteString("  ")
			}
			if i >= right {
				b.WriteString(pad + cell)
			} else {
				b.WriteString(cell + pad)
			}
		}
		p.WriteString(strings.TrimRight(b.String(), " ") + "\n")
	}
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func number(n int) string {
	if n == 0 {
		return "-"
	}
	return groupDigits(n)
}

// groupDigits writes a number with commas: 12,345.
func groupDigits(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
