// Package hidden has what packages toolpost and upstream do not show their users, and share
// with the other packages of this module: the form of a result that came from elsewhere, what
// is wrong with a definition, who made a call and what its client said about itself, where
// texts go that are too long for memory, the names and limits of stored outputs, and the
// options of an upstream that belongs to a gateway.
//
//	mcpserver, gateway ─ EncodedOf ─▶ *toolpost.Result ◀─ NewResult ─ upstream
//	mcpserver ───────────── WithOwner ▶ *toolpost.Call ▶ OwnerOf ───▶ gateway, upstream
//	output ──────────────── WithKeep ▶ context ▶ Keep ──────────────▶ upstream
//	gateway ─ UpstreamOptionsOf ─▶ *upstream.Options ───────────────▶ upstream
//
// This package cannot import these packages, so their types are an any here: a
// *toolpost.Result, *toolpost.Definition or *toolpost.Call.
package hidden

import (
	"context"
	"encoding/json"
	"io"

	"github.com/toolpost/toolpost/internal/longjson"
	"github.com/toolpost/toolpost/internal/wire"
)

// Encoded is a result in the form in which its source sent it. Results that a Go
// function made have neither Raw nor Long.
type Encoded struct {
	Raw  json.RawMessage  // the MCP result object
	Long *longjson.Object // the MCP result object, if it is too large for memory
	Scan *wire.Answer     // what a scan found in Raw or Long; nil if it was not scanned
}

// An Owner is the client that made a call. Compare the Session.
type Owner struct {
	Session string // identifies the calls that belong together: the session, otherwise the caller's identity; empty if unknown
	Party   string // identifies the client across its sessions: its user, credential or address, and its name; empty if unknown
	Shared  bool   // other clients may have the same Session: the call is not part of a session of its client
}

// Functions are those of package toolpost that other packages reach through this one.
type Functions struct {
	NewResult       func(Encoded) any
	EncodedOf       func(result any) Encoded
	ResultOf        func(v any) (any, error)
	ParseDefinition func(raw []byte, definition any) (badOutput, err error)
	OwnerOf         func(call any) Owner
	SetOwner        func(call any, owner Owner)
}

var root Functions

// Share gives this package the functions of package toolpost, which calls it when it is
// initialized.
func Share(f Functions) struct{} {
	root = f
	return struct{}{}
}

// NewResult returns a result that consists of e. If e has a Scan, the bytes are not scanned
// again; a Long one is loaded when its content is requested.
func NewResult(e Encoded) (result any) { return root.NewResult(e) }

// EncodedOf returns the form in which a result was sent.
func EncodedOf(result any) Encoded { return root.EncodedOf(result) }

// ResultOf returns the result of a tool that returned v: text, parts, or JSON. Nil becomes
// empty text, and a value that is already an MCP result stays unchanged.
func ResultOf(v any) (result any, err error) { return root.ResultOf(v) }

// ParseDefinition reads an MCP Tool object, which it keeps, into a *toolpost.Definition. An
// output schema that is not valid is left out, and badOutput is the reason.
func ParseDefinition(raw []byte, definition any) (badOutput, err error) {
	return root.ParseDefinition(raw, definition)
}

// OwnerOf returns the client that made a *toolpost.Call.
func OwnerOf(call any) Owner { return root.OwnerOf(call) }

// WithOwner sets the client that made a *toolpost.Call, which it returns.
func WithOwner[C any](call *C, owner Owner) *C {
	root.SetOwner(call, owner)
	return call
}

// An Introduction is what a client says about itself when it connects.
type Introduction struct {
	Info         json.RawMessage // MCP's Implementation object: name, version, title, icons, …
	Capabilities json.RawMessage // MCP's ClientCapabilities object
}

// IntroductionOf returns what a toolpost.Caller said about itself, nil if it said nothing.
// Callers say it with the method Introduction() *Introduction.
func IntroductionOf(caller any) *Introduction {
	if c, ok := caller.(interface{ Introduction() *Introduction }); ok {
		return c.Introduction()
	}
	return nil
}

// A KeepFunc stores a text that is too long for memory. The text is one of the given number of
// texts in a result, and failed reports whether the result may be a failure. It returns the
// excerpt to show instead and a reference to the whole text, or nothing if the text is
// within its limit.
type KeepFunc func(ctx context.Context, text io.Reader, of int, failed bool) (view, ref string, err error)

type keepKey struct{}

// WithKeep returns the context of a call whose long texts keep stores; nil stores none.
func WithKeep(ctx context.Context, keep KeepFunc) context.Context {
	return context.WithValue(ctx, keepKey{}, keep)
}

// Keep returns what stores the long texts of a call, nil if nothing does.
func Keep(ctx context.Context) KeepFunc {
	keep, _ := ctx.Value(keepKey{}).(KeepFunc)
	return keep
}

// WithoutKeep returns ctx for a call of its own inside a call: its result is for the tool that
// made it, which needs the whole texts.
func WithoutKeep(ctx context.Context) context.Context {
	if Keep(ctx) == nil {
		return ctx
	}
	return WithKeep(ctx, nil)
}
