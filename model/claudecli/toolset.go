package claudecli

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/message"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
	"github.com/toolpost/toolpost/schema/dialect"
)

// serverName is the name of the server by which the CLI gets the tools.
const serverName = "tools"

// A toolset is the tools of a request in the form for the CLI.
type toolset struct {
	*provider.Toolset
	served []*toolpost.Tool // without handlers
	digest digest           // of their definitions
}

// maxResult is the number of characters of a result up to which the CLI passes
// it on. Of a longer one the model would receive the beginning.
const maxResult = 500_000

// toolset returns the tools of a request.
func (m *Model) toolset(ctx context.Context, set *toolpost.Set) (*toolset, error) {
	if set == nil {
		return &toolset{}, nil
	}
	return m.toolsets.Get(set, func() (*toolset, error) {
		o, err := model.NewOffer(ctx, set, "claude-code", &model.OfferOptions{Server: serverName},
			func(o *model.Offer[*toolpost.Tool], t *dialect.Tool) error {
				o.Tools = append(o.Tools, cliTool(t))
				return nil
			})
		if err != nil {
			return nil, err
		}
		h := sha256.New()
		for _, t := range o.Tools {
			definition, err := t.Definition.MarshalJSON()
			if err != nil {
				return nil, err
			}
			fmt.Fprintf(h, "%q\n", definition)
		}
		return &toolset{provider.NewToolset(o), o.Tools, digest(h.Sum(nil))}, nil
	})
}

// cliTool returns the tool as the CLI is to see it. The CLI runs only tools that
// read at the same time, but here all calls only wait.
func cliTool(t *dialect.Tool) *toolpost.Tool {
	s := &toolpost.Tool{Definition: t.Definition}
	s.Output = nil
	s.Raw = nil
	readOnly := true
	s.Annotations = toolpost.Annotations{ReadOnly: &readOnly}
	s.Policy = toolpost.Policy{SkipValidation: true, MaxOutput: maxResult, Polled: true}
	return s
}

// with returns the tools with a handler.
func (ts *toolset) with(handle toolpost.Handler) toolpost.Tools {
	var tools toolpost.Tools
	for _, t := range ts.served {
		handled := *t
		handled.Handler = handle
		tools = append(tools, &handled)
	}
	return tools
}

// call returns the part for a call of the model.
func (ts *toolset) call(b *message.ToolUse) model.Part {
	p := model.Part{Type: model.TypeCall, ID: b.ID, Name: ts.name(b.Name), Arguments: b.Input}
	if len(p.Arguments) == 0 {
		p.Arguments = json.RawMessage("{}")
	}
	name, listed := strings.CutPrefix(b.Name, claude.ToolName(serverName, ""))
	if !listed { // the CLI answers by itself that there is no such tool
		ts = &toolset{}
	}
	ts.DecodeCall(&p, name)
	return p
}

// has reports whether a call is of one of the tools, so that it waits.
func (ts *toolset) has(call *model.Part) bool { return ts.Name(call.Name) != "" }

// name returns a tool's own name for the CLI's.
func (ts *toolset) name(cli string) string {
	return ts.OwnName(strings.TrimPrefix(cli, claude.ToolName(serverName, "")))
}
