package toolsearch

import (
	"cmp"
	"context"
	_ "embed" // for the descriptions
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/codec"
	"github.com/toolpost/toolpost/internal/suggest"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/schema"
)

var (
	//go:embed find_tools.md
	findDescription string
	//go:embed call_tool_read.md
	readDescription string
	//go:embed call_tool_write.md
	writeDescription string
)

// Limits of an answer of find_tools.
const (
	usualHits = 5
	maxHits   = 20
	maxAnswer = 24 << 10 // bytes, some 6,000 tokens; the first hit is sent in any case
)

// A catalogue is one list of tools with the tools that search it.
type catalogue struct {
	all               []*toolpost.Tool
	byName            map[string]*toolpost.Tool
	index             func() *index
	find, read, write string // the names of the tools that search
}

// newCatalogue returns the catalogue of the tools that a model may find. The names of
// others are taken too.
func newCatalogue(all, others []*toolpost.Tool, index func() *index) *catalogue {
	byName, taken := make(map[string]*toolpost.Tool, len(all)), make(map[string]bool, len(others))
	for _, t := range all {
		byName[t.Name], taken[t.Name] = t, true
	}
	for _, t := range others {
		taken[t.Name] = true
	}
	return &catalogue{
		all: all, byName: byName, index: index,
		find: freeName("find_tools", taken), read: freeName("call_tool_read", taken), write: freeName("call_tool_write", taken),
	}
}

type findInput struct {
	Query string `json:"query" jsonschema:"minLength=1,maxLength=1000,description=What the tool should do"`
	Limit int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=20,default=5,description=Most tools to return"`
}

// callSchema returns the schema of both tools that call others. The arguments are those
// of any tool.
var callSchema = sync.OnceValue(func() *schema.Schema {
	return schema.MustParse(`{
	"type": "object",
	"properties": {
		"name": {"type": "string", "minLength": 1, "maxLength": 256, "description": "The exact name of the tool"},
		"arguments": {"type": "object", "description": "The arguments of the tool"}
	},
	"required": ["name"],
	"additionalProperties": false
}`)
})

type callInput struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// tools returns the tools that search: they do not limit their output, because the
// tools below do.
func (c *catalogue) tools() []*toolpost.Tool {
	yes, no := true, false
	return []*toolpost.Tool{
		toolpost.New(c.find, fmt.Sprintf(strings.TrimSpace(findDescription), c.overview()),
			func(_ context.Context, in findInput) (string, error) { return c.answer(in) },
			&toolpost.Options{
				Title:       "Find tools",
				Annotations: toolpost.Annotations{ReadOnly: &yes, Idempotent: &yes, OpenWorld: &no},
				Policy:      toolpost.Policy{MaxOutput: -1},
			}),
		toolpost.New(c.read, fmt.Sprintf(strings.TrimSpace(readDescription), c.find), c.callRead, &toolpost.Options{
			Title:       "Call a tool that only reads",
			Annotations: toolpost.Annotations{ReadOnly: &yes},
			Policy:      toolpost.Policy{MaxOutput: -1},
			Input:       callSchema(),
		}),
		toolpost.New(c.write, fmt.Sprintf(strings.TrimSpace(writeDescription), c.find), c.callWrite, &toolpost.Options{
			Title:       "Call a tool that may change something",
			Annotations: toolpost.Annotations{ReadOnly: &no, Destructive: &yes},
			Policy:      toolpost.Policy{MaxOutput: -1},
			Input:       callSchema(),
		}),
	}
}

// A foundTool is one line of an answer. It is JSON, so that the description of
// a tool cannot look like another tool.
type foundTool struct {
	Name        string          `json:"name"`
	CallWith    string          `json:"call_with"`
	Description string          `json:"description,omitempty"`
	Input       json.RawMessage `json:"input_schema"`
}

// answer returns the best tools, one line of JSON each.
func (c *catalogue) answer(in findInput) (string, error) {
	hits := c.index().search(in.Query, min(cmp.Or(in.Limit, usualHits), maxHits))
	if t := c.byName[in.Query]; t != nil {
		hits = []hit{{tool: t}}
	}
	if len(hits) == 0 {
		return "", toolpost.Retry.Errorf("no tool fits %q; describe the task with other, simpler English words. There are %s", in.Query, c.overview())
	}
	var b strings.Builder
	for i, h := range hits {
		line, err := codec.Encode(foundTool{h.tool.Name, c.callWith(h.tool), h.tool.Description, h.tool.Input.Raw()})
		if err != nil {
			return "", fmt.Errorf("encode tool %s: %w", h.tool.Name, err)
		}
		if i > 0 && b.Len()+len(line) > maxAnswer {
			fmt.Fprintf(&b, "%d more do not fit into this answer; ask for less at once.\n", len(hits)-i)
			break
		}
		b.Write(line)
		b.WriteByte('\n')
	}
	return b.String(), nil
}

func (c *catalogue) callWith(t *toolpost.Tool) string {
	if isReadOnly(t) {
		return c.read
	}
	return c.write
}

// isReadOnly reports whether the author of a tool claims that it only reads.
func isReadOnly(t *toolpost.Tool) bool {
	return t.Annotations.ReadOnly != nil && *t.Annotations.ReadOnly
}

func (c *catalogue) callRead(ctx context.Context, in callInput) (*toolpost.Result, error) {
	if t := c.byName[in.Name]; t != nil && !isReadOnly(t) {
		observe.From(ctx).SetCalled(t.Name)
		return nil, toolpost.Retry.Errorf("%s may change something, because it is not marked as read-only; call it with %s and the same arguments", t.Name, c.write)
	}
	return c.call(ctx, c.read, in)
}

func (c *catalogue) callWrite(ctx context.Context, in callInput) (*toolpost.Result, error) {
	return c.call(ctx, c.write, in)
}

// call runs a tool as if the client had called it by its own name.
func (c *catalogue) call(ctx context.Context, by string, in callInput) (*toolpost.Result, error) {
	t := c.byName[in.Name]
	if t == nil {
		return nil, toolpost.Retry.Errorf("there is no tool %q; %s", in.Name, c.suggest(in.Name))
	}
	observe.From(ctx).SetCalled(t.Name)
	if t.Policy.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, t.Policy.Timeout, toolpost.Failed.Errorf("%s did not finish within %v", t.Name, t.Policy.Timeout))
		defer cancel()
	}
	inner := *toolpost.CallFrom(ctx)
	inner.Name, inner.Arguments = t.Name, in.Arguments
	r, err := t.Run(ctx, &inner)
	var invalid *toolpost.ArgumentsError
	if errors.As(err, &invalid) {
		return nil, toolpost.Retry.Errorf("invalid arguments for %s:\n%v\nFix them and call it with %s again.", t.Name, invalid.Err, by)
	}
	if r != nil {
		r = r.WithNotes("called " + t.Name)
	}
	return r, err
}

// suggest returns what to do about a name that no tool has.
func (c *catalogue) suggest(name string) string {
	names := make([]string, len(c.all))
	for i, t := range c.all {
		names[i] = t.Name
	}
	near := suggest.Names(name, names, 3)
	if len(near) == 0 {
		for _, h := range c.index().search(name, 3) {
			near = append(near, h.tool.Name)
		}
	}
	if len(near) == 0 {
		return "find one with " + c.find
	}
	return fmt.Sprintf("did you mean %s? %s returns its arguments", strings.Join(near, " or "), c.find)
}

// A description names up to maxServers servers, each with a name of up to
// maxServerName bytes.
const (
	maxServers    = 50
	maxServerName = 64
)

// overview returns how many tools there are of which servers, in the order of the list:
// "37 tools: github (26), slack (8) and 3 others".
func (c *catalogue) overview() string {
	var names []string
	counts, others := map[string]int{}, 0
	for _, t := range c.all {
		server, _, ok := strings.Cut(t.Name, "__")
		if !ok || len(server) > maxServerName || counts[server] == 0 && len(names) == maxServers {
			others++
			continue
		}
		if counts[server]++; counts[server] == 1 {
			names = append(names, server)
		}
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%s (%d)", name, counts[name])
	}
	text := fmt.Sprintf("%d tools", len(c.all))
	if len(names) > 0 {
		text += ": " + strings.Join(names, ", ")
		if others > 0 {
			text += fmt.Sprintf(" and %d others", others)
		}
	}
	return text
}
