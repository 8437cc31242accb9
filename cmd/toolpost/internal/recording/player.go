package recording

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/wire"
)

// A Player answers calls as a recording did. Calls with the same name and arguments
// get their answers in the recorded order; the last one is repeated. It is a
// [toolpost.Toolset] with features.
type Player struct {
	toolpost.Base
	tools    []*toolpost.Tool
	features *toolpost.Features
	redact   *redactor

	mu      sync.Mutex
	answers map[string][]*Call    // by key; the first is the next
	known   map[[2]string][]*Call // by method and name, for hints
}

// NewPlayer returns a player of a recording.
func NewPlayer(rec *Recording) (*Player, error) {
	p := &Player{redact: newRedactor(nil, nil), answers: map[string][]*Call{}, known: map[[2]string][]*Call{}}
	for _, c := range rec.Calls {
		k := key(c.Method, c.Name, c.Args)
		p.answers[k] = append(p.answers[k], c)
		of := [2]string{c.Method, c.Name}
		p.known[of] = append(p.known[of], c)
	}
	for i, raw := range rec.Catalogue.Tools {
		var d toolpost.Definition
		err := d.UnmarshalJSON(raw)
		if err != nil || d.Name == "" {
			return nil, fmt.Errorf("replay: tool %d of the recording cannot be used: %w", i+1, errors.Join(err, nameless(d.Name)))
		}
		p.tools = append(p.tools, &toolpost.Tool{Definition: d, Handler: p.handler("tools/call"), Policy: toolpost.Policy{SkipValidation: true}})
	}
	p.features = p.newFeatures(rec.Catalogue)
	return p, nil
}

func nameless(name string) error {
	if name == "" {
		return errors.New("it has no name")
	}
	return nil
}

func (p *Player) newFeatures(c *Catalogue) *toolpost.Features {
	f := &toolpost.Features{Instructions: c.Instructions, Proxy: toolpost.Proxy{Capabilities: c.Capabilities}}
	if len(c.Capabilities) > 0 {
		f.Extend = p.extend
	}
	get, read, complete := p.handler("prompts/get"), p.handler("resources/read"), p.handler("completion/complete")
	if p.known[[2]string{"completion/complete", "completion/complete"}] == nil {
		complete = nil
	}
	for _, raw := range c.Prompts {
		f.Prompts = append(f.Prompts, &toolpost.Prompt{Name: wire.Unquote(wire.Get(raw, "name")), Definition: raw, Get: get, Complete: complete})
	}
	for _, raw := range c.Resources {
		f.Resources = append(f.Resources, &toolpost.Resource{URI: wire.Unquote(wire.Get(raw, "uri")), Definition: raw, Read: read, Complete: complete})
	}
	for _, raw := range c.Templates {
		f.Resources = append(f.Resources, &toolpost.Resource{URI: wire.Unquote(wire.Get(raw, "uriTemplate")), Template: true, Definition: raw, Read: read, Complete: complete})
	}
	if len(f.Resources) > 0 {
		f.ReadUnlisted = read
	}
	return f
}

// Tools returns the recorded tools.
func (p *Player) Tools(context.Context) ([]*toolpost.Tool, error) { return p.tools, nil }

// Features returns the recorded prompts and resources.
func (p *Player) Features() *toolpost.Features { return p.features }

// key identifies calls that are the same: the order and white space of the arguments
// do not matter.
func key(method, name string, args json.RawMessage) string {
	return method + "\x00" + name + "\x00" + jsontree.Canonical(args)
}

func (p *Player) extend(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
	return p.handler(call.Name)(ctx, call)
}

func (p *Player) handler(method string) toolpost.Handler {
	return func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		args, _ := p.redact.redact(arguments(method, call))
		name := p.redact.text(call.Name)
		c := p.next(key(method, name, args))
		if c == nil {
			return nil, p.unknown(method, name, args)
		}
		return c.answer()
	}
}

// next returns the next answer of calls with a key, nil if there is none.
func (p *Player) next(key string) *Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.answers[key]
	if len(all) == 0 {
		return nil
	}
	if len(all) > 1 {
		p.answers[key] = all[1:]
	}
	return all[0]
}

func (c *Call) answer() (*toolpost.Result, error) {
	switch {
	case c.Error != nil:
		return nil, &toolpost.ProtocolError{Code: c.Error.Code, Message: c.Error.Message, Data: c.Error.Data}
	case c.Omitted > 0:
		return nil, fmt.Errorf("the recording has this call, but not its result, which had %d bytes", c.Omitted)
	}
	return toolpost.RawResult(c.Raw()), nil
}

// unknown returns the error of a call that was not recorded, with the recorded calls
// that share the most arguments with it.
func (p *Player) unknown(method, name string, args json.RawMessage) error {
	known := slices.Clone(p.known[[2]string{method, name}])
	if len(known) == 0 {
		return fmt.Errorf("the recording has no call of %q; record one with \"toolpost serve --record FILE\"", name)
	}
	shared := map[*Call]int{}
	for _, c := range known {
		shared[c] = sharedArguments(c.Args, args)
	}
	slices.SortStableFunc(known, func(a, b *Call) int { return shared[b] - shared[a] })
	const most = 5
	var texts []string
	seen := map[string]bool{}
	for _, c := range known {
		text := string(c.Args)
		if len(text) == 0 {
			text = "{}"
		}
		if text = clip(text); !seen[text] && len(texts) < most {
			texts = append(texts, text)
		}
		seen[text] = true
	}
	more := ""
	if n := len(seen) - len(texts); n > 0 {
		more = fmt.Sprintf("\nand %d more", n)
	}
	return fmt.Errorf("the recording has no call of %q with these arguments; it has calls with:\n%s%s", name, strings.Join(texts, "\n"), more)
}

// sharedArguments returns how many members of two objects are the same.
func sharedArguments(a, b json.RawMessage) (n int) {
	values := map[string]string{}
	for name, value := range wire.Members(a) {
		values[name] = jsontree.Canonical(value)
	}
	for name, value := range wire.Members(b) {
		if v, ok := values[name]; ok && v == jsontree.Canonical(value) {
			n++
		}
	}
	return n
}

// clip returns the beginning of a value for a message.
func clip(text string) string { return cleartext.Clip(text, 300) }
