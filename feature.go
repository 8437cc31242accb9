package toolpost

import (
	"context"
	"encoding/json"
)

// Features are what an MCP server offers beside tools. Their handlers get a
// [Call] and return a [Result] like tools do; the result's bytes are those of
// MCP's prompts/get, resources/read or completion/complete.
type Features struct {
	Instructions string
	Prompts      []*Prompt
	Resources    []*Resource

	// ReadUnlisted reads a resource that is not among Resources, such as one that
	// a tool's result links to. Call.Name is its URI. Nil means that there are none.
	ReadUnlisted Handler

	// Incomplete means that a server is still connecting, so that more prompts,
	// resources and subscriptions may follow.
	Incomplete bool

	// Subscribe asks for, or with on false ends, update notifications of one
	// resource. Nil means that resources are not watched.
	Subscribe func(ctx context.Context, uri string, on bool) error
}

// A Prompt is a message template that a person picks (MCP 2026-07-28, Prompts).
type Prompt struct {
	Name       string
	Definition json.RawMessage // the MCP Prompt object; its name is replaced by Name
	Get        Handler         // Call.Name is the prompt's name, Arguments its arguments
	Complete   Handler         // Arguments is the params object of completion/complete; nil if there is none
}

// A Resource is a document that a client may read, or a template of such
// (MCP 2026-07-28, Resources).
type Resource struct {
	URI        string          // or the URI template (RFC 6570)
	Template   bool            // URI is a template
	Definition json.RawMessage // the MCP Resource or ResourceTemplate object; its uri is replaced by URI
	Read       Handler         // Call.Name is the URI that is read
	Complete   Handler         // Arguments is the params object of completion/complete; nil if there is none
}
