package toolpost

import (
	"context"
	"encoding/json"
	"fmt"
)

// Features are what an MCP server offers besides tools: [NewPrompt] and
// [NewResource] make prompts and resources of Go functions. Their handlers receive
// a [Call] and return a [RawResult] whose bytes are those of MCP's prompts/get,
// resources/read or completion/complete. The result of a tool, such as a
// [TextResult], is none of these: mcpserver refuses it, and logs why.
//
// Features are a Toolset without tools: [Join] adds them to tools. They must not be changed
// once a Toolset has returned them.
type Features struct {
	Instructions string
	Prompts      []*Prompt
	Resources    []*Resource

	// Subscribe starts update notifications of one resource if on is true, and
	// stops them if it is false. Nil means that resources cannot be watched.
	Subscribe func(ctx context.Context, uri string, on bool) error

	Proxy // of servers elsewhere, empty for features of this program
}

// A Proxy is what Features of servers elsewhere have in addition, so that nothing of them
// is lost on the way to clients.
type Proxy struct {
	// ServerInfo and ServerCapabilities are what the server said about itself: MCP's
	// Implementation and ServerCapabilities objects. Both are nil for features of several
	// servers.
	ServerInfo         json.RawMessage
	ServerCapabilities json.RawMessage

	// ReadUnlisted reads a resource that is not in Resources, such as one that
	// a tool's result links to. Call.Name is its URI. Nil means that there are
	// no such resources.
	ReadUnlisted Handler

	// Capabilities declares everything else: an object with members of MCP's
	// ServerCapabilities that mcpserver does not know, such as extensions and
	// experimental. Nil declares nothing.
	Capabilities json.RawMessage

	// Extend handles requests whose methods are not those of MCP, such as
	// skills/list. Call.Name is the method, Params its params. Nil means that
	// there are none. Notified handles such notifications, and must return soon.
	Extend   Handler
	Notified func(*Call)

	// Incomplete reports that a server is still connecting: more prompts,
	// resources and subscriptions may follow.
	Incomplete bool
}

// A Prompt is a message template that a person selects (MCP 2026-07-28,
// Prompts).
type Prompt struct {
	Name       string
	Definition json.RawMessage // the MCP Prompt object; its name is replaced by Name
	Get        Handler         // Call.Name is the prompt's name, Arguments its arguments; the result is a GetPromptResult
	Complete   Handler         // Arguments is the params object of completion/complete; nil if there is none
}

// A Resource is a document that a client may read, or a template for such
// documents (MCP 2026-07-28, Resources).
type Resource struct {
	URI        string          // or the URI template (RFC 6570)
	Template   bool            // URI is a template
	Definition json.RawMessage // the MCP Resource or ResourceTemplate object; its uri is replaced by URI
	Read       Handler         // Call.Name is the URI that is read; the result is a ReadResourceResult
	Complete   Handler         // Arguments is the params object of completion/complete; nil if there is none
}

// Tools returns no tools.
func (f *Features) Tools(context.Context) ([]*Tool, error) { return nil, nil }

// Features returns f itself.
func (f *Features) Features() *Features { return f }

// Watch does nothing: fixed features do not change.
func (f *Features) Watch(func(Event)) (stop func()) { return func() {} }

// Ready returns nil.
func (f *Features) Ready(context.Context) error { return nil }

// change returns f with copies of its prompts and resources that are changed.
func (f *Features) change(prompt func(*Prompt), resource func(*Resource)) *Features {
	c := *f
	c.Prompts, c.Resources = make([]*Prompt, len(f.Prompts)), make([]*Resource, len(f.Resources))
	for i, p := range f.Prompts {
		own := *p
		prompt(&own)
		c.Prompts[i] = &own
	}
	for i, r := range f.Resources {
		own := *r
		resource(&own)
		c.Resources[i] = &own
	}
	return &c
}

// wrap returns f with middleware around every handler.
func (f *Features) wrap(middleware Middleware) *Features {
	wrap := func(handlers ...*Handler) {
		for _, h := range handlers {
			if *h != nil {
				*h = middleware(*h)
			}
		}
	}
	c := f.change(func(p *Prompt) { wrap(&p.Get, &p.Complete) }, func(r *Resource) { wrap(&r.Read, &r.Complete) })
	wrap(&c.ReadUnlisted, &c.Extend)
	return c
}

// findings reports duplicate prompts and resources.
func (f *Features) findings() (found []Finding) {
	if f == nil {
		return nil
	}
	seen := map[string]bool{}
	twice := func(format, name string) {
		text := fmt.Sprintf(format, name)
		if seen[text] {
			found = append(found, Finding{Message: text + " is offered twice, and the first is served"})
		}
		seen[text] = true
	}
	for _, p := range f.Prompts {
		twice("prompt %q", p.Name)
	}
	for _, r := range f.Resources {
		if r.Template {
			twice("resource template %q", r.URI)
		} else {
			twice("resource %q", r.URI)
		}
	}
	return found
}
