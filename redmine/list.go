package redmine

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
)

// how many rows a list has if nothing is said, and at the most.
const (
	usualRows = 50
	mostRows  = 1000
)

// A rowSpan is the part of a list to show.
type rowSpan struct {
	Offset int `json:"offset,omitempty" jsonschema:"minimum=0"`
	Limit  int `json:"limit,omitempty" jsonschema:"minimum=1,maximum=1000,default=50"`
}

func (in rowSpan) most() int { return limitOf(in.Limit) }

func limitOf(n int) int { return min(cmp.Or(n, usualRows), mostRows) }

// pageOf is the part of a list that Redmine gives whole.
func pageOf[T any](all []T, offset, limit int) []T {
	from := min(offset, len(all))
	return all[from:min(from+limitOf(limit), len(all))]
}

// A listing is a part of a list as it is shown: a line a row, without its end, and the
// same rows for programs.
type listing[R any] struct {
	what    string // such as "time entries"
	key     string // of the rows, for programs
	rows    []R
	offset  int
	total   int
	facts   map[string]any    // more for programs
	note    string            // after the first line
	remarks []string          // before the rows, for programs too
	brief   bool              // rows begin with their number, and are a [brief] for programs
	below   func(*R) []string // more lines of a row
	end     string            // lines after the rows
}

func (l *listing[R]) answer(s *Toolset) (*toolpost.Result, error) {
	var b strings.Builder
	b.WriteString(pageSummary(l.what, len(l.rows), l.offset, l.total) + l.note + "\n")
	for _, remark := range l.remarks {
		b.WriteString(remark + "\n")
	}
	for i := range l.rows {
		b.WriteString(l.lines(&l.rows[i]))
	}
	b.WriteString(l.end)
	facts := map[string]any{l.key: append([]R{}, l.rows...), "total": l.total, "offset": l.offset}
	if l.brief {
		briefs := []brief{}
		for i := range l.rows {
			briefs = append(briefs, brief{&l.rows[i]})
		}
		facts[l.key] = briefs
	}
	if len(l.remarks) > 0 {
		facts["remarks"] = l.remarks
	}
	for name, fact := range l.facts {
		facts[name] = fact
	}
	return s.answer(b.String(), facts)
}

// lines are those of a row.
func (l *listing[R]) lines(row *R) string {
	if !l.brief {
		return "- " + lineOf(row) + "\n"
	}
	text, fields := lineOf(row)+"\n", fieldsOf(customFieldsOf(row))
	for _, name := range sorted(fields) {
		text += fmt.Sprintf("  %s: %s\n", name, oneLine(fields[name]))
	}
	if l.below != nil {
		for _, line := range l.below(row) {
			text += "  " + line + "\n"
		}
	}
	return text
}

// pageSummary says which part of a list is shown, and how to go on.
func pageSummary(what string, shown, offset, total int) string {
	switch {
	case total == 0:
		return fmt.Sprintf("No %s.", what)
	case shown == 0:
		return fmt.Sprintf("There are no %s from offset %d on; there are %d in all.", what, offset, total)
	case shown == total:
		return fmt.Sprintf("All %d %s.", total, what)
	case offset+shown < total:
		return fmt.Sprintf("%s %d to %d of %d; call again with offset %d for more.", upper(what), offset+1, offset+shown, total, offset+shown)
	}
	return fmt.Sprintf("%s %d to %d of %d.", upper(what), offset+1, offset+shown, total)
}
