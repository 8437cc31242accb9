package schema

import (
	"fmt"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// A Problem is one way in which a value does not match its schema.
type Problem struct {
	Pointer  string   // JSON pointer into the value (RFC 6901), "" for the whole
	Expected string   // what the schema requires
	Got      string   // what the value is, shortened
	Valid    []string // for an unknown name: the valid names, the closest one first
}

func (p Problem) line() string {
	var b strings.Builder
	if p.Pointer != "" {
		b.WriteString(jsontree.Clip(p.Pointer, 120) + ": ")
	}
	if len(p.Valid) == 0 {
		b.WriteString("expected " + p.Expected + ", got " + p.Got)
		return b.String()
	}
	b.WriteString(p.Got + "; valid names: ")
	for i, name := range p.Valid {
		if i > 0 {
			b.WriteString(", ")
		}
		if b.Len() > 400 {
			fmt.Fprintf(&b, "and %d more", len(p.Valid)-i)
			break
		}
		b.WriteString(jsontree.Clip(name, 80))
	}
	return b.String()
}

// A ValidationError contains the problems of one value, at most 20. Its text is
// written for the model that sent the value, with one line per problem.
type ValidationError struct {
	Problems []Problem
	More     int // the number of further problems
}

// Limits on what a model has to read.
const (
	maxProblems  = 20
	maxErrorText = 1500
)

func (e *ValidationError) Error() string {
	var b strings.Builder
	more := e.More
	for i, p := range e.Problems {
		line := p.line()
		if i > 0 && b.Len()+len(line) > maxErrorText {
			more += len(e.Problems) - i
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(line)
	}
	if more > 0 {
		fmt.Fprintf(&b, "\nand %d more", more)
	}
	return b.String()
}

func (e *ValidationError) add(p Problem) {
	if len(e.Problems) < maxProblems {
		e.Problems = append(e.Problems, p)
		return
	}
	e.More++
}

// nearest returns names with those first that are close to name.
func nearest(name string, names []string) []string {
	best, least := -1, max(2, len(name)/3)+1
	for i, n := range names {
		if i == 200 || len(name) > 100 {
			break
		}
		if d := distance(strings.ToLower(name), strings.ToLower(n)); d < least {
			best, least = i, d
		}
	}
	if best < 0 {
		return names
	}
	sorted := append([]string{names[best]}, names[:best]...)
	return append(sorted, names[best+1:]...)
}

// distance is the number of edits (Levenshtein) that turn a into b.
func distance(a, b string) int {
	if len(b) > 100 {
		return len(b)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
