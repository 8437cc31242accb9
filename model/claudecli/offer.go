package claudecli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/message"
	"github.com/toolpost/toolpost/dialect"
	"github.com/toolpost/toolpost/model"
)

// A toolset is the tools of a request in the form for the CLI.
type toolset struct {
	tools  map[string]*dialect.Tool // by the CLI's names
	served []*toolpost.Tool         // without handlers
	losses []model.Loss
}

// maxResult is the number of characters of a result up to which the CLI passes
// it on. Of a longer one the model would receive the beginning.
const maxResult = 500_000

func newOffer(ctx context.Context, set *toolpost.Set) (*toolset, error) {
	o := &toolset{tools: map[string]*dialect.Tool{}}
	if set == nil {
		return o, nil
	}
	tools, err := set.Tools(ctx)
	if err != nil {
		return nil, fmt.Errorf("list tools: %w", err)
	}
	d, err := dialect.Find("claude-code")
	if err != nil {
		return nil, err
	}
	adapted := d.Adapt(tools, &dialect.Options{Server: claude.DefaultServer})
	for _, w := range adapted.Withheld {
		o.losses = append(o.losses, model.Loss{Message: -1, Part: -1, Text: fmt.Sprintf("the tool %q is withheld: %s", w.Name, w.Why)})
	}
	for _, t := range adapted.Tools {
		o.tools[claude.ToolName(claude.DefaultServer, t.Name)] = t
		o.served = append(o.served, served(t))
	}
	return o, nil
}

// served returns the tool as the CLI is to see it. The CLI runs only tools that
// read at the same time, but here all calls only wait.
func served(t *dialect.Tool) *toolpost.Tool {
	s := &toolpost.Tool{Definition: t.Definition}
	s.Output = nil
	s.Source = nil
	readOnly := true
	s.Annotations = toolpost.Annotations{ReadOnly: &readOnly}
	s.Policy = toolpost.Policy{SkipValidation: true, MaxOutput: maxResult, LogAtDebug: true}
	return s
}

// toolset returns the tools with a handler.
func (o *toolset) toolset(handle toolpost.Handler) toolpost.Tools {
	tools := toolpost.Tools(slices.Clone(o.served))
	for i, t := range tools {
		with := *t
		with.Handler = handle
		tools[i] = &with
	}
	return tools
}

// call returns the part for a call of the model.
func (o *toolset) call(b *message.ToolUse) model.Part {
	p := model.Part{Type: model.TypeCall, ID: b.ID, Name: o.name(b.Name), Arguments: b.Input}
	if len(p.Arguments) == 0 {
		p.Arguments = json.RawMessage("{}")
	}
	t := o.tools[b.Name]
	if t == nil {
		p.Invalid = fmt.Sprintf("There is no tool %q. Call one of the tools you were given.", p.Name)
		return p
	}
	arguments, err := t.Decode(p.Arguments)
	if err != nil {
		p.Invalid = err.Error()
		return p
	}
	p.Arguments = arguments
	return p
}

// known reports whether a call is of one of the tools, so that it waits.
func (o *toolset) known(call *model.Part) bool {
	for _, t := range o.tools {
		if t.Original.Name == call.Name {
			return true
		}
	}
	return false
}

// name returns a tool's own name.
func (o *toolset) name(cli string) string {
	if t := o.tools[cli]; t != nil {
		return t.Original.Name
	}
	return strings.TrimPrefix(cli, claude.ToolName(claude.DefaultServer, ""))
}
