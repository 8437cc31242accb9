package toolpost

import (
	"context"
	"encoding/json"
)

// Features are what an MCP server offers besides tools. Their handlers receive
// a [Call] and return a [Result], as those of tools do. The result's bytes are
// those of MCP's prompts/get, resources/read or completion/complete.
type Features struct {
	Instructions string
	Prompts      []*Prompt
	Resources    []*Resource

	// ReadUnlisted reads a resource that is not in Resources, such as one that
	// a tool's result links to. Call.Name is its URI. Nil means that there are
	// no such resources.
	ReadUnlisted Handler

	// Capabilities declares what there is beside: an object with members of
	// MCP's ServerCapabilities that mcpserver does not know, among them
	// extensions and experimental. Nil declares nothing.
	Capabilities json.RawMessage

	// Extend handles requests whose methods are not those of MCP, such as
	// skills/list. Call.Name is the method, Params its params. Nil means that
	// there are none. Notified takes such notifications, and must return soon.
	Extend   Handler
	Notified func(*Call)

	// Incomplete reports that a server is still connecting: more prompts,
	// resources and subscriptions may follow.
	Incomplete bool

	// Subscribe starts update notifications of one resource if on is true, and
	// stops them if it is false. Nil means that resources cannot be watched.
	Subscribe func(ctx context.Context, uri string, on bool) error
}

// A Prompt is a message template that a person selects (MCP 2026-07-28,
// Prompts).
type Prompt struct {
	Name       string
	Definition json.RawMessage // the MCP Prompt object; its name is replaced by Name
	Get        Handler         // Call.Name is the prompt's name, Arguments its arguments
	Complete   Handler         // Arguments is the params object of completion/complete; nil if there is none
}

// A Resource is a document that a client may read, or a template for such
// documents (MCP 2026-07-28, Resources).
type Resource struct {
	URI        string          // or the URI template (RFC 6570)
	Template   bool            // URI is a template
	Definition json.RawMessage // the MCP Resource or ResourceTemplate object; its uri is replaced by URI
	Read       Handler         // Call.Name is the URI that is read
	Complete   Handler         // Arguments is the params object of completion/complete; nil if there is none
}

// Wrap returns f with middleware around every handler. See the function [Wrap],
// which does the same for tools.
func (f *Features) Wrap(middleware func(next Handler) Handler) *Features {
	wrap := func(h Handler) Handler {
		if h == nil {
			return nil
		}
		return middleware(h)
	}
	c := *f
	c.ReadUnlisted, c.Extend = wrap(f.ReadUnlisted), wrap(f.Extend)
	c.Prompts, c.Resources = make([]*Prompt, len(f.Prompts)), make([]*Resource, len(f.Resources))
	for i, p := range f.Prompts {
		wrapped := *p
		wrapped.Get, wrapped.Complete = wrap(p.Get), wrap(p.Complete)
		c.Prompts[i] = &wrapped
	}
	for i, r := range f.Resources {
		wrapped := *r
		wrapped.Read, wrapped.Complete = wrap(r.Read), wrap(r.Complete)
		c.Resources[i] = &wrapped
	}
	return &c
}
