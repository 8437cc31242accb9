package schema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/suggest"
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

// maxNear is how many names a name is compared with.
const maxNear = 200

// nearest returns names with the one first that name may mean.
func nearest(name string, names []string) []string {
	i := slices.Index(names, suggest.Nearest(name, names[:min(len(names), maxNear)]))
	if i < 0 {
		return names
	}
	return slices.Concat(names[i:i+1], names[:i], names[i+1:])
}
