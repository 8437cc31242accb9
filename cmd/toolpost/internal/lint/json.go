package lint

import (
	"encoding/json"
	"io"
)

// A jsonReport is what --format json writes.
type jsonReport struct {
	Source   string         `json:"source"`
	Tools    int            `json:"tools"`
	Targets  []string       `json:"targets"`
	Errors   int            `json:"errors"`
	Warnings int            `json:"warnings"`
	Notes    int            `json:"notes"`
	Findings []*jsonFinding `json:"findings"`
	Off      []*jsonFinding `json:"off"`
}

type jsonFinding struct {
	Tool    string    `json:"tool"` // "" for the list as a whole
	Rule    string    `json:"rule"`
	Level   string    `json:"level"`
	Pointer string    `json:"pointer"`
	Keyword string    `json:"keyword"`
	Message string    `json:"message"`
	Line    int       `json:"line,omitempty"`
	Column  int       `json:"column,omitempty"`
	Hits    []jsonHit `json:"hits"`
	Reason  string    `json:"reason,omitempty"`
}

type jsonHit struct {
	Target  string `json:"target"`
	ID      string `json:"id"`
	Effect  string `json:"effect"`
	Message string `json:"message"`
}

func writeJSON(w io.Writer, r *Report, _ *Options) error {
	n := r.count()
	out := jsonReport{
		Source: r.Title, Tools: len(r.Tools), Errors: n[Error], Warnings: n[Warning], Notes: n[Note],
		Findings: r.jsonFindings(r.problems), Off: r.jsonFindings(r.off),
	}
	for _, d := range r.targets {
		out.Targets = append(out.Targets, d.ID)
	}
	return writeIndented(w, out)
}

func writeIndented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func (r *Report) jsonFindings(problems []*problem) []*jsonFinding {
	all := []*jsonFinding{}
	for _, p := range problems {
		f := &jsonFinding{
			Tool: p.name, Rule: p.rule.Name, Level: p.level().String(), Pointer: p.pointer, Keyword: p.keyword,
			Message: p.message(), Hits: p.jsonHits(), Reason: p.reason,
		}
		if at, ok := r.spot(p); ok {
			f.Line, f.Column = at.line, at.column
		}
		all = append(all, f)
	}
	return all
}

func (p *problem) jsonHits() (hits []jsonHit) {
	for _, h := range p.hits {
		hits = append(hits, jsonHit{h.target.ID, h.Rule, string(h.Effect), h.Message})
	}
	return hits
}
