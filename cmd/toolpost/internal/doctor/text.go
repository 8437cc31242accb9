package doctor

import (
	"fmt"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// few is how many findings of one kind are shown, unless all are.
const few = 5

var colors = map[Severity]string{Error: "31", Warning: "33", Note: "2"}

// WriteFindings adds findings to a page, the worst first. Unless all is set, it
// leaves out notes, and further findings of a kind that repeats.
func WriteFindings(p *terminal.Page, findings []Finding, all bool) {
	Sort(findings)
	shown, hidden := map[string]int{}, 0
	for i := range findings {
		f := &findings[i]
		if !all && (f.Severity == Note || shown[f.ID] >= few) {
			hidden++
			continue
		}
		shown[f.ID]++
		p.Line("", "")
		p.WriteString(p.Paint(colors[f.Severity], fmt.Sprintf("%-7s", f.Severity)) + "  " + cleartext.Printable(f.ID+f.subject()) + "\n")
		p.Line("         ", f.Message)
		if f.Fix != "" {
			p.Line("         fix  ", f.Fix)
		}
	}
	if hidden > 0 {
		p.Line("", "")
		p.Line("", fmt.Sprintf("%s more; --all shows everything.", terminal.Count(hidden, "finding")))
	}
}

// subject names what the finding is about.
func (f *Finding) subject() string {
	at := ""
	switch {
	case f.Line > 0:
		at += fmt.Sprintf("  %s:%d:%d", f.File, f.Line, f.Column)
	case f.File != "":
		at += "  " + f.File
	}
	if f.Server != "" && f.Tool == "" && f.Line == 0 {
		at += "  server " + f.Server
	}
	if f.Tool != "" {
		at += "  " + f.Tool
	}
	if f.Client != "" {
		at += "  for " + f.Client
	}
	return at
}

// Summary counts findings in words.
func Summary(findings []Finding) string {
	if len(findings) == 0 {
		return "nothing to fix"
	}
	return fmt.Sprintf("%s, %s, %s", terminal.Count(Count(findings, Error), "error"),
		terminal.Count(Count(findings, Warning), "warning"), terminal.Count(Count(findings, Note), "note"))
}
