package toolpost

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/toolpost/toolpost/schema"
)

// A Set is what a toolset offers at one time: its tools, indexed by name, and
// its prompts and resources. It is safe for concurrent use.
type Set struct {
	tools    []*Tool
	byName   map[string]*Tool
	features *Features
	findings []Finding
}

// A Finding is a remark about a Set.
type Finding struct {
	Tool    string // its name, if the remark is about one tool
	Message string
}

// NewSet lists ts. If two tools have the same name, or a tool is nil or lacks a name, input
// schema or handler, the error is a *[ToolValidationError]. A name that some clients refuse is a
// finding.
func NewSet(ctx context.Context, ts Toolset) (*Set, error) {
	tools, err := ts.Tools(ctx)
	if err != nil {
		return nil, fmt.Errorf("list tools: %w", err)
	}
	s := &Set{tools: tools, byName: make(map[string]*Tool, len(tools)), features: ts.Features()}
	for i, t := range tools {
		if err := s.add(t); err != nil {
			return nil, fmt.Errorf("list of %d tools, number %d: %w", len(tools), i+1, err)
		}
	}
	return s, nil
}

func (s *Set) add(t *Tool) error {
	switch {
	case t == nil:
		return &ToolValidationError{Field: "value", Err: errors.New("it is nil; leave it out")}
	case t.Name == "":
		return &ToolValidationError{Field: "name", Err: errors.New("it is empty; give the tool a name")}
	case t.Handler == nil:
		return &ToolValidationError{t.Name, "function", errors.New("it has no handler; give it one")}
	case t.Input == nil:
		return &ToolValidationError{t.Name, "schema", errors.New(`it has no input schema; use {"type":"object"} for none`)}
	case s.byName[t.Name] != nil:
		return duplicateError(s.byName[t.Name], t)
	}
	s.byName[t.Name] = t
	if err := checkName(t.Name); err != nil {
		s.findings = append(s.findings, Finding{t.Name, err.Error()})
	}
	return nil
}

// Tools returns the tools in order. The caller must not change them.
func (s *Set) Tools(context.Context) ([]*Tool, error) { return s.tools, nil }

// Features returns the prompts and resources, nil if the toolset has none.
func (s *Set) Features() *Features { return s.features }

// Watch does nothing: a Set does not change.
func (s *Set) Watch(func(Event)) (stop func()) { return func() {} }

// Ready returns nil.
func (s *Set) Ready(context.Context) error { return nil }

// Lookup returns the tool with that name, or nil if there is none.
func (s *Set) Lookup(name string) *Tool { return s.byName[name] }

// Findings returns remarks: names that clients may refuse, parts of Go types that
// have no schema, parts of input schemas that are not validated, and duplicate
// prompts and resources.
func (s *Set) Findings() []Finding {
	all := slices.Concat(s.findings, s.features.findings())
	for _, t := range s.tools {
		all = append(all, about(t.Name, "input schema ", t.Input.Findings())...)
		if t.Output != nil {
			all = append(all, about(t.Name, "output schema ", t.Output.Findings())...)
		}
		if !t.Policy.SkipValidation {
			all = append(all, about(t.Name, "input schema ", t.Input.Unvalidated())...)
		}
	}
	return all
}

func about(tool, part string, findings []schema.Finding) []Finding {
	var all []Finding
	for _, f := range findings {
		all = append(all, Finding{tool, part + f.Pointer + ": " + f.Message})
	}
	return all
}

// A ToolValidationError reports why a value cannot be a tool.
type ToolValidationError struct {
	Tool  string // its name, if it has one
	Field string // name, description, schema, function or value
	Err   error
}

func (e *ToolValidationError) Error() string {
	tool := "a tool"
	if e.Tool != "" {
		tool = fmt.Sprintf("tool %q", e.Tool)
	}
	return fmt.Sprintf("%s: its %s: %v", tool, e.Field, e.Err)
}

// Unwrap returns the error of the field.
func (e *ToolValidationError) Unwrap() error { return e.Err }

// duplicateError reports two tools of one name, which their descriptions tell apart.
func duplicateError(first, second *Tool) error {
	return &ToolValidationError{first.Name, "name", fmt.Errorf("two tools have it: %.60q and %.60q; give one another name with Rename or Prefix",
		first.Description, second.Description)}
}
