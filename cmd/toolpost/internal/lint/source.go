package lint

import (
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema/dialect"
)

// A Source is a list of tools to check, as they were written.
type Source struct {
	Title string // what they are of, for people
	File  *File  // nil if they are not of a file
	Tools []*Tool
	Book  *dialect.Book
}

// AddSkipped adds what servers list in a shape that no client can use: it is
// known from what the upstream says of it.
func (s *Source) AddSkipped(skipped []toolpost.Finding) {
	for _, f := range skipped {
		switch {
		case f.Tool == "" && strings.Contains(f.Message, "no name"):
			t := &Tool{}
			t.fault("name", "name", "", "%s", f.Message)
			s.Tools = append(s.Tools, t)
		case strings.Contains(f.Message, "inputSchema"):
			t := &Tool{name: f.Tool}
			t.fault("poison-root-type", "inputSchema", "", "%s", f.Message)
			s.Tools = append(s.Tools, t)
		case strings.Contains(f.Message, "outputSchema"):
			s.lookupTool(f.Tool).fault("poison-output", "outputSchema", "outputSchema", "%s", f.Message)
		case strings.Contains(f.Message, "more than once"):
			s.lookupTool(f.Tool).fault("name-collision", "name", "name", "%s", f.Message)
		}
	}
}

// lookupTool returns the tool that its server calls so; what is not among the
// tools is added.
func (s *Source) lookupTool(name string) *Tool {
	for _, t := range s.Tools {
		if t.name == name || strings.HasSuffix(t.name, "__"+name) {
			return t
		}
	}
	t := &Tool{name: name}
	s.Tools = append(s.Tools, t)
	return t
}

// NewTool returns a tool that is not of a file.
func NewTool(t *toolpost.Tool) *Tool { return &Tool{Tool: t, name: t.Name} }
