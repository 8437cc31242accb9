package mcpserver

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"log/slog"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/lower"
)

// A strictLister prepares tools for clients that read a list strictly: one
// definition that they refuse costs them all tools. A tool that they accept keeps
// its bytes.
type strictLister struct {
	log *slog.Logger
	ids map[string][sha256.Size]byte // of output schemas in all lists so far, with the hash of the schema
}

// maxIDs is how many ids of output schemas a strictLister remembers.
const maxIDs = 10_000

var errStrictInput = errors.New("its input schema accepts no object, or clients cannot read it")

// add adds a tool to the list, unless its policy leaves it out.
func (l *strictLister) add(listed *collector, t *toolpost.Tool) error {
	if t.Policy.Unlisted {
		return nil
	}
	t, err := l.tool(t)
	if err != nil {
		return err
	}
	item, err := t.MarshalJSON()
	if err != nil {
		return err
	}
	return listed.add(t.Name, item)
}

// tool returns t, or a copy with schemas that strict clients accept.
func (l *strictLister) tool(t *toolpost.Tool) (*toolpost.Tool, error) {
	if t.Input == nil {
		return nil, errStrictInput
	}
	input, losses := lower.StrictInput(t.Input)
	if input == nil {
		return nil, errStrictInput
	}
	if input != t.Input {
		l.report(t, "input schema is repaired for the list", losses)
	}
	output := l.output(t)
	if input == t.Input && output == t.Output {
		return t, nil
	}
	c := *t
	c.Input, c.Output = input, output
	return &c, nil
}

// output returns the output schema that is listed, nil for none.
func (l *strictLister) output(t *toolpost.Tool) *schema.Schema {
	if t.Output == nil {
		return nil
	}
	output, losses := lower.StrictOutput(t.Output)
	if output != nil && !l.claim(output) {
		output, losses = lower.AnonymousOutput(output)
	}
	switch output {
	case t.Output:
	case nil:
		l.report(t, "output schema is left out of the list", losses)
	default:
		l.report(t, "output schema is repaired for the list", losses)
	}
	return output
}

func (l *strictLister) report(t *toolpost.Tool, message string, losses []lower.Loss) {
	var why string
	if len(losses) > 0 {
		why = losses[0].Detail
	}
	l.log.Warn(message, "tool", t.Name, "why", clip(why))
}

// claim reports whether no other schema has an id of s. Validators of a client
// keep the schemas of all tools under their ids for good: a second one is not
// compiled, or replaced by the first.
func (l *strictLister) claim(s *schema.Schema) bool {
	if !bytes.Contains(s.Raw(), []byte(`"$id"`)) {
		return true
	}
	sum := sha256.Sum256(s.Raw())
	ids := s.IDs()
	for _, id := range ids {
		if other, known := l.ids[id]; known && other != sum || !known && len(l.ids) >= maxIDs {
			return false
		}
	}
	for _, id := range ids {
		l.ids[id] = sum
	}
	return true
}
