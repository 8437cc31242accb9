package mcpserver

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/wire"
)

// requiredMembers has the member that a result must have, by the method that returns it.
// A result of a tool may lack all of them.
var requiredMembers = map[string]string{getPrompt: "messages", readResource: "contents", complete: "completion"}

// checkKind returns an error for a result of another method than the request's, such
// as the result of a tool for prompts/get, and logs it. Clients would read it as one
// that is empty.
func (c *core) checkKind(r *request, result *toolpost.Result) error {
	if r.Method == callTool {
		return nil
	}
	required := requiredMembers[r.Method]
	if required == "" || hasMember(result, required) ||
		!hasMember(result, "content", "structuredContent", "toolResult", "messages", "contents", "completion") {
		return nil
	}
	return c.refuse(r, result, fmt.Sprintf("it has no %q", required))
}

// checkLost returns an error for a result of which nothing was left after it was made
// valid, and logs it.
func (c *core) checkLost(r *request, result *toolpost.Result, raw, mended json.RawMessage) error {
	if requiredMembers[r.Method] == "" || len(itemsOf(r.Method, raw)) <= len("[]") || len(itemsOf(r.Method, mended)) > len("[]") {
		return nil
	}
	return c.refuse(r, result, fmt.Sprintf("its %q is not valid", requiredMembers[r.Method]))
}

// itemsOf returns the messages, contents or values of a result, nil if they are null.
func itemsOf(method string, raw json.RawMessage) json.RawMessage {
	items := wire.Get(raw, requiredMembers[method])
	if method == complete && wire.IsObject(items) {
		items = wire.Get(items, "values")
	}
	if absent(items) {
		return nil
	}
	return items
}

// hasMember reports whether a result has one of these members. A result that a Go
// function made of parts or of a value has content only.
func hasMember(result *toolpost.Result, names ...string) bool {
	switch e := hidden.EncodedOf(result); {
	case e.Long != nil:
		return slices.ContainsFunc(names, func(name string) bool { return e.Long.Member(name) != nil })
	case e.Raw != nil:
		return slices.ContainsFunc(names, func(name string) bool { return wire.Get(e.Raw, name) != nil })
	}
	return slices.Contains(names, "content")
}

// refuse logs why a result is refused, and returns the error for the client. The text of
// a failed tool is the text of the error.
func (c *core) refuse(r *request, result *toolpost.Result, why string) error {
	name := subject(r.Message)
	c.views.reports.report(slog.LevelWarn, "a result is refused", wire.Kind(r.Method), name, why+"; NewPrompt and NewResource of package toolpost make valid ones")
	if text, ok := result.FirstText(); ok && result.IsError() {
		return wire.Errorf(wire.CodeInternal, "%s", clip(text))
	}
	return wire.Errorf(wire.CodeInternal, "the result of %s %.100q is not valid: %s", r.Method, name, why)
}
