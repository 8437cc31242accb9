package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/longjson"
	"github.com/toolpost/toolpost/internal/wire"
)

// encode returns a result as it is written: the bytes that the handler returned,
// with what the client's version needs beside them.
func (c *core) encode(r *request, result *toolpost.Result, err error) (payload, error) {
	if result == nil && err == nil {
		result = toolpost.NewResult()
	}
	if err == nil {
		err = c.checkKind(r, result)
	}
	if err != nil {
		drop(result)
		return nil, faultOf(r, err)
	}
	found := hidden.EncodedOf(result).Scan
	r.asks = false // an earlier round may have asked
	long := hidden.EncodedOf(result).Long
	if long != nil && !mustLoad(r, long, found) {
		return c.splice(r, long, found, result.OutputRef()), nil
	}
	raw, err := marshal(r, result)
	if err != nil {
		return nil, err
	}
	if raw, found, err = c.mendResult(r, result, raw, found); err != nil {
		return nil, err
	}
	if r.asks = found.Asks; r.asks && r.modern() {
		if err := r.requireInputs(raw); err != nil {
			return nil, faultOf(r, err)
		}
		raw = mendInputs(raw, r.version)
	}
	raw, meta := withRef(raw, found, result.OutputRef())
	return inMemory(c.finish(r, raw, found, meta)), nil
}

// marshal returns the JSON object of a result.
func marshal(r *request, result *toolpost.Result) (json.RawMessage, error) {
	raw, err := result.MarshalJSON()
	switch {
	case err != nil:
		return nil, wire.Errorf(wire.CodeInternal, "encode result of %.100q: %v", subject(r.Message), err)
	case !wire.IsObject(raw):
		return nil, wire.Errorf(wire.CodeInternal, "the result of %.100q is not a JSON object", subject(r.Message))
	}
	return raw, nil
}

// maxMended is how long a result from a file may be that is loaded because clients
// would refuse something in it.
const maxMended = 32 << 20

// mustLoad reports whether a result that may be in a file is needed in memory.
func mustLoad(r *request, o *longjson.Object, found *wire.Answer) bool {
	structured := o.Member("structuredContent")
	lost := structured != nil && structured.Kind != '{' && !r.modern() || lacksContent(r, o, found) && wire.LacksContent(r.version)
	return o.Size() <= maxMended && (lost || found.Odd || found.Newer && wire.LacksContent(r.version))
}

// lacksContent reports whether a result that may be in a file needs content and has none.
func lacksContent(r *request, o *longjson.Object, found *wire.Answer) bool {
	return r.Method == callTool && o.Member("content") == nil && o.Member("task") == nil && !found.Asks
}

// refusable reports whether the client may refuse something in a result.
func refusable(r *request, found *wire.Answer) bool {
	return r.Method != callTool || found.Odd || found.Newer && wire.LacksContent(r.version)
}

// mendResult returns the JSON of a result without anything that the client would
// refuse, and its scan. Found is nil if it was not scanned. A result that asks for
// input, or names a task, is left as it is; one of which nothing is left is an error.
func (c *core) mendResult(r *request, result *toolpost.Result, raw json.RawMessage, found *wire.Answer) (json.RawMessage, *wire.Answer, error) {
	if long := hidden.EncodedOf(result).Long != nil; found == nil || long {
		found = searchFully(raw, long || hidden.EncodedOf(result).Raw != nil)
	}
	if !refusable(r, found) {
		return raw, found, nil
	}
	if kind := member(raw, "resultType"); kind != nil && string(kind) != `"complete"` {
		return raw, found, nil
	}
	mended := wire.MendResult(raw, r.Method, subject(r.Message), r.version)
	if bytes.Equal(mended, raw) {
		return raw, found, nil
	}
	return mended, search(mended), c.checkLost(r, result, raw, mended)
}

// mendInputs returns a result that asks for input without anything in what it asks that
// the client would refuse.
func mendInputs(raw json.RawMessage, version string) json.RawMessage {
	return wire.Edit(raw, func(name string, asked json.RawMessage) json.RawMessage {
		if name != "inputRequests" || !wire.IsObject(asked) {
			return asked
		}
		return wire.Edit(asked, func(_ string, question json.RawMessage) json.RawMessage {
			params := wire.Get(question, "params")
			mended := wire.MendParams(params, wire.Unquote(wire.Get(question, "method")), version)
			if bytes.Equal(mended, params) {
				return question
			}
			return wire.Set(question, "params", mended)
		})
	})
}

// searchFully is search. If the result is foreign, it also looks for members that
// clients may refuse.
func searchFully(raw json.RawMessage, foreign bool) *wire.Answer {
	found := search(raw)
	if foreign {
		found.Odd, found.Newer = wire.Look(raw)
	}
	return found
}

// drop closes a result that is not sent.
func drop(result *toolpost.Result) {
	if result != nil && hidden.EncodedOf(result).Long != nil {
		hidden.EncodedOf(result).Long.Close()
	}
}

// search scans a result as the scan of a message does. A result with escapes may
// have _meta under a name that is written with them.
func search(raw json.RawMessage) *wire.Answer {
	kind := member(raw, "resultType")
	return &wire.Answer{
		Structured: member(raw, "structuredContent"), Typed: kind != nil, Asks: wire.Unquote(kind) == "input_required",
		OddMeta: bytes.Contains(raw, []byte(`"_meta"`)) || hasEscape(raw),
	}
}

// member returns a member of a result. Most results do not have the member,
// which a search for its name shows at a fraction of the cost of a scan. Names
// that are written with escapes are not found.
func member(raw []byte, name string) json.RawMessage {
	if !bytes.Contains(raw, []byte(`"`+name+`"`)) {
		return nil
	}
	return wire.Get(raw, name)
}

// outputRef is the member of a result's _meta that has the reference of the
// whole output, if the result is a view of it.
const outputRef = "toolpost/output_ref"

// hasEscape reports whether JSON has a character written by its number. Most
// texts have no backslash at all, which is found out faster.
func hasEscape(raw []byte) bool {
	first := bytes.IndexByte(raw, '\\')
	return first >= 0 && bytes.Contains(raw[first:], []byte(`\u`))
}

// withRef returns a result with ref as its only reference, none if it is empty,
// and its _meta.
func withRef(raw json.RawMessage, found *wire.Answer, ref string) (result, meta json.RawMessage) {
	meta = found.ResultMeta
	if found.OddMeta || mayHaveRef(meta) {
		if mayHaveRef(raw) { // only Toolpost gives references
			raw = wire.Edit(raw, func(name string, value json.RawMessage) json.RawMessage {
				if name == "_meta" {
					return wire.Delete(value, outputRef)
				}
				return value
			})
		}
		meta = wire.Get(raw, "_meta")
	}
	if ref != "" {
		meta = wire.Set(meta, outputRef, wire.Quote(ref))
		raw = wire.Set(raw, "_meta", meta)
	}
	return raw, meta
}

// mayHaveRef reports whether JSON may have a reference of an output.
func mayHaveRef(raw json.RawMessage) bool {
	return bytes.Contains(raw, []byte("output_ref")) || hasEscape(raw)
}

// Members that results have since 2026-07-28. Lists may change at any time,
// and differ between users of one server.
const (
	cacheable  = `"ttlMs":0,"cacheScope":"private"`
	serverInfo = `"` + wire.MetaPrefix + `serverInfo"`
)

// finish adapts a result to the client's version. Meta is its _meta, nil if it
// has none.
func (c *core) finish(r *request, raw json.RawMessage, found *wire.Answer, meta json.RawMessage) json.RawMessage {
	if !r.modern() {
		if s := found.Structured; s != nil && s[0] != '{' {
			return withoutStructured(raw, s)
		}
		return raw
	}
	cached := r.Method == readResource && (member(raw, "ttlMs") != nil || member(raw, "cacheScope") != nil)
	if with := c.withServerInfo(r.view, meta); len(with) > len(meta) {
		raw = wire.Set(raw, "_meta", with)
	}
	return wire.Append(raw, c.missing(r, found, cached, meta != nil)...)
}

// withoutStructured returns a result without its structured content, which is not an
// object, as older versions want it. If the result has no text, the JSON becomes one.
func withoutStructured(raw, structured json.RawMessage) json.RawMessage {
	raw = wire.Delete(raw, "structuredContent")
	if content, changed := withText(wire.Get(raw, "content"), structured); changed {
		raw = wire.Set(raw, "content", content)
	}
	return raw
}

// withText returns content with a text block that has the JSON of structured
// content, unless there is a text, or nothing to say.
func withText(content, structured json.RawMessage) (with json.RawMessage, changed bool) {
	if string(structured) == "null" {
		return content, false
	}
	b := []byte{'['}
	for block := range wire.Elements(content) {
		if wire.Unquote(wire.Get(block, "type")) == "text" {
			return content, false
		}
		b = append(append(b, block...), ',')
	}
	b = append(b, `{"type":"text","text":`...)
	return append(wire.AppendQuote(b, string(structured)), "}]"...), true
}

// withServerInfo returns the _meta of a result with the name and version of the server.
func (c *core) withServerInfo(v *view, meta json.RawMessage) json.RawMessage {
	if !wire.IsObject(meta) || bytes.Contains(meta, []byte(serverInfo)) {
		return meta
	}
	return wire.Append(meta, serverInfo+":"+string(c.introduction(v)))
}

// missing returns the members that a result needs since 2026-07-28 but lacks.
func (c *core) missing(r *request, found *wire.Answer, cached, meta bool) (members []string) {
	if !found.Typed {
		members = append(members, `"resultType":"complete"`)
	}
	if r.Method == readResource && !cached {
		members = append(members, cacheable)
	}
	if !meta {
		members = append(members, `"_meta":{`+serverInfo+`:`+string(c.introduction(r.view))+`}`)
	}
	return members
}

// metaFor returns the _meta of a result with ref as its only reference.
func (c *core) metaFor(r *request, meta json.RawMessage, ref string) json.RawMessage {
	meta = wire.Delete(meta, outputRef)
	if ref != "" {
		meta = wire.Set(meta, outputRef, wire.Quote(ref))
	}
	if r.modern() {
		meta = c.withServerInfo(r.view, meta)
	}
	return meta
}

// splice returns a result that may be in a file, adapted as encode adapts others.
func (c *core) splice(r *request, o *longjson.Object, found *wire.Answer, ref string) payload {
	meta := c.metaFor(r, found.ResultMeta, ref)
	var edits []longjson.Edit
	removed := 0
	for i, m := range o.Members {
		switch {
		case m.Name == "_meta" && !bytes.Equal(meta, found.ResultMeta):
			edits = append(edits, longjson.Edit{Span: longjson.Span{From: m.Value, To: m.To}, By: meta})
		case m.Name == "structuredContent" && m.Kind != '{' && !r.modern():
			edits, removed = append(edits, removal(o, i)), removed+1
		}
	}
	var members []string
	if found.ResultMeta == nil && meta != nil {
		members = append(members, `"_meta":`+string(meta))
	}
	if lacksContent(r, o, found) {
		members = append(members, `"content":[]`) // the structured content, which is long, is enough for its clients
	}
	if r.modern() {
		cached := o.Member("ttlMs") != nil || o.Member("cacheScope") != nil
		members = append(members, c.missing(r, found, cached, meta != nil)...)
	}
	if len(members) > 0 {
		edits = append(edits, addition(o, removed, members))
	}
	return applyEdits(o, edits)
}

// faultOf returns the error with which a request is answered.
func faultOf(r *request, err error) *wire.Error {
	missing := errors.Is(err, toolpost.ErrNotFound)
	switch {
	case missing && r.Method == callTool:
		return wire.Errorf(wire.CodeInvalidParams, "unknown tool %.100q; call tools/list", r.Name)
	case missing && r.Method == readResource:
		return noResource(r)
	case missing && !isServed(r.Method):
		return noMethod(r.Method)
	case missing:
		return wire.Errorf(wire.CodeInvalidParams, "%v", err)
	}
	if fault, ok := errors.AsType[*wire.Error](err); ok {
		return fault
	}
	if protocol, ok := errors.AsType[*toolpost.ProtocolError](err); ok {
		return &wire.Error{Code: protocol.Code, Message: protocol.Message, Data: protocol.Data}
	}
	return wire.Errorf(wire.CodeInternal, "%v", err)
}

// codeNoResource is the code up to 2025-11-25.
const codeNoResource = -32002

func noResource(r *request) *wire.Error {
	e := wire.Errorf(codeNoResource, "unknown resource %.200q; call resources/list", r.URI)
	if r.modern() {
		e.Code = wire.CodeInvalidParams
	}
	e.Data = json.RawMessage(`{"uri":` + string(wire.Quote(r.URI)) + `}`)
	return e
}
