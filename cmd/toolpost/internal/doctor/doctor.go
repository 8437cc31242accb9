// Package doctor examines a configuration, its servers and their tools, and
// reports what is wrong, with a fix for each finding.
//
//	configuration file ── Configuration ──┐
//	state of servers ──── Servers ────────┼──▶ findings ──▶ Report ── text or JSON
//	tools × clients ───── Catalogue ──────┘
package doctor

import (
	"slices"
	"sort"
)

// A Severity is how bad a finding is.
type Severity string

// The severities, the worst first.
const (
	Error   Severity = "error"   // something does not work, or is not safe
	Warning Severity = "warning" // something works worse than it could
	Note    Severity = "note"    // something worth knowing
)

func (s Severity) rank() int { return slices.Index([]Severity{Error, Warning, Note}, s) }

// A Finding is one thing that is wrong, with what to do about it.
type Finding struct {
	ID       string   `json:"id"` // of the kind of finding, such as "server-failed"
	Severity Severity `json:"severity"`
	File     string   `json:"file,omitempty"`
	Line     int      `json:"line,omitempty"`   // from 1; 0 if the finding has no place in File
	Column   int      `json:"column,omitempty"` // from 1, in characters
	Server   string   `json:"server,omitempty"`
	Tool     string   `json:"tool,omitempty"`   // as clients know it
	Client   string   `json:"client,omitempty"` // the id of the client's dialect
	Message  string   `json:"message"`
	Fix      string   `json:"fix,omitempty"` // a command, or a change of the configuration
}

// Sort orders findings by severity, and keeps the order of equal ones.
func Sort(findings []Finding) {
	sort.SliceStable(findings, func(i, j int) bool { return findings[i].Severity.rank() < findings[j].Severity.rank() })
}

// Count returns the number of findings of a severity.
func Count(findings []Finding, s Severity) (n int) {
	for i := range findings {
		if findings[i].Severity == s {
			n++
		}
	}
	return n
}

// Failed reports whether findings should make a command fail: an error, or with
// strict a warning.
func Failed(findings []Finding, strict bool) bool {
	return Count(findings, Error) > 0 || strict && Count(findings, Warning) > 0
}
