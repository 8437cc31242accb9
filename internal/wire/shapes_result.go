package wire

import (
	"encoding/json"
	"fmt"
	"sync"
)

// Versions that introduced types of content.
const (
	firstAudio = LastBatch
	firstLinks = "2025-06-18"
)

// LacksContent reports whether a version lacks types of content that the newest one
// has.
func LacksContent(version string) bool { return version < firstLinks }

// resultShapes returns the shapes of results by the methods that return them. In a
// result that asks for input, or names a task, nothing is required; see [MendResult].
var resultShapes = sync.OnceValue(func() map[string]*shape {
	p := newParts()
	contents := p.contents(func(m *mender, _ json.RawMessage) json.RawMessage {
		if m.version <= LastSession {
			return Quote(ReplaceURI(m.subject))
		}
		return Quote(m.subject)
	})
	block := p.block()
	message := objectOf(
		field{name: "role", shape: p.role, required: true, missing: constant(`"user"`)},
		field{name: "content", shape: block, required: true},
	)
	values := &shape{begins: "[", what: "an array of at most 100 strings", values: p.text, accepts: isShort, convert: firstValues}
	completion := objectOf(
		field{name: "values", shape: values, required: true, missing: constant("[]")},
		field{name: "total", shape: p.count},
		field{name: "hasMore", shape: p.flag},
	)
	return map[string]*shape{
		"tools/call": p.toolResult(&shape{begins: "[", what: "an array", values: block, convert: toList}),
		"prompts/get": objectOf(
			field{name: "description", shape: p.text},
			field{name: "messages", shape: listOf(message), required: true, missing: constant("[]")},
			field{name: "_meta", shape: p.object},
		),
		"resources/read": objectOf(
			field{name: "contents", shape: &shape{begins: "[", what: "an array", values: contents, convert: toList}, required: true, missing: constant("[]")},
			field{name: "ttlMs", shape: p.count},
			field{name: "cacheScope", shape: oneOf("public", "private")},
			field{name: "_meta", shape: p.object},
		),
		"completion/complete": objectOf(
			field{name: "completion", shape: completion, required: true, missing: constant(`{"values":[]}`)},
			field{name: "_meta", shape: p.object},
		),
	}
})

// toolResult returns the shape of results of tools with a shape of content. Clients
// refuse a result without content, but if it names a task.
func (p *parts) toolResult(content *shape) *shape {
	isError, meta := field{name: "isError", shape: p.flag}, field{name: "_meta", shape: p.object}
	complete := objectOf(field{name: "content", shape: content, required: true, missing: contentOf}, isError, meta)
	task := objectOf(field{name: "content", shape: content}, isError, meta)
	s := *complete
	s.choose = func(raw json.RawMessage, _ string) *shape {
		if IsObject(Get(raw, "task")) {
			return task
		}
		return complete
	}
	return &s
}

// contentOf returns the content of a result that has none: the text of its structured
// content, or of the result that MCP had before it had content.
func contentOf(_ *mender, result json.RawMessage) json.RawMessage {
	for _, name := range []string{"structuredContent", "toolResult"} {
		if value := Get(result, name); value != nil && string(value) != "null" {
			return json.RawMessage(`[{"type":"text","text":` + string(Quote(string(value))) + `}]`)
		}
	}
	return json.RawMessage("[]")
}

// contents returns the shape of the contents of a resource. Missing returns the URI
// of contents without one.
func (p *parts) contents(missing func(*mender, json.RawMessage) json.RawMessage) *shape {
	s := objectOf(append(p.uri(missing),
		field{name: "mimeType", shape: p.text},
		field{name: "text", shape: p.text},
		field{name: "blob", shape: p.text},
		field{name: "_meta", shape: p.object},
	)...)
	s.what = "an object with a text or blob"
	s.accepts = func(raw json.RawMessage) bool { return Get(raw, "text") != nil || Get(raw, "blob") != nil }
	return s
}

// block returns the shape of a block of content. A block that a client would refuse
// is converted to a text.
func (p *parts) block() *shape {
	own := func(fields ...field) *shape {
		return objectOf(append(fields, field{name: "annotations", shape: p.annotations}, field{name: "_meta", shape: p.object})...)
	}
	text := own(field{name: "text", shape: p.text, required: true})
	media := own(
		field{name: "data", shape: p.text, required: true},
		field{name: "mimeType", shape: p.text, required: true, missing: constant(`"application/octet-stream"`)},
	)
	link := objectOf(append(append(p.resource("uri"), p.uri(nil)...), field{name: "size", shape: p.count})...)
	resource := own(field{name: "resource", shape: p.contents(constant(`"` + replacedScheme + `"`)), required: true})
	choose := func(raw json.RawMessage, version string) *shape {
		switch kind := Unquote(Get(raw, "type")); {
		case kind == "", kind == "audio" && version < firstAudio, kind == "resource_link" && version < firstLinks:
			return nil
		case kind == "text":
			return text
		case kind == "image", kind == "audio":
			return media
		case kind == "resource_link":
			return link
		case kind == "resource":
			return resource
		}
		return p.object // a client that knows the type may take it
	}
	return &shape{begins: "{", what: "an object", choose: choose, convert: toText}
}

// maxShown is the length of a block that a client gets as JSON where it cannot take
// the block.
const maxShown = 4 << 10

// toText returns the text block that says what a block contains.
func toText(raw json.RawMessage, _ string) json.RawMessage {
	kind, uri := Unquote(Get(raw, "type")), Unquote(Get(raw, "uri"))
	text := string(raw)
	switch {
	case raw[0] == '"':
		text = Unquote(raw)
	case raw[0] != '{' && raw[0] != '[' || string(raw) == "{}":
		return nil
	case kind == "resource_link" && uri != "":
		if text = uri; Unquote(Get(raw, "name")) != "" {
			text = Unquote(Get(raw, "name")) + ": " + uri
		}
	case len(raw) > maxShown || kind == "audio":
		text = fmt.Sprintf("[content of type %.40q and %d bytes, which this client cannot take]", kind, len(raw))
	}
	return json.RawMessage(`{"type":"text","text":` + string(Quote(text)) + `}`)
}

// toList returns the list of one value, and an empty list for null.
func toList(raw json.RawMessage, _ string) json.RawMessage {
	switch {
	case string(raw) == "null":
		return json.RawMessage("[]")
	case raw[0] == '{' || raw[0] == '"':
		return json.RawMessage("[" + string(raw) + "]")
	}
	return nil
}

// maxValues is how many values a completion may have.
const maxValues = 100

func isShort(list json.RawMessage) bool {
	n := 0
	for range Elements(list) {
		n++
	}
	return n <= maxValues
}

func firstValues(list json.RawMessage, _ string) json.RawMessage {
	if list[0] != '[' {
		return nil
	}
	n := 0
	return EditElements(list, func(value json.RawMessage) json.RawMessage {
		if n++; n > maxValues {
			return nil
		}
		return value
	})
}

// paramsShapes returns the shapes of the params of what servers send to clients.
var paramsShapes = sync.OnceValue(func() map[string]*shape {
	p := newParts()
	number := &shape{begins: digits, what: "a number"}
	share := &shape{begins: digits, what: "a number from 0 to 1", accepts: isPriority}
	meta := field{name: "_meta", shape: p.object}
	return map[string]*shape{
		"notifications/progress": objectOf(
			field{name: "progress", shape: number, required: true},
			field{name: "total", shape: number},
			field{name: "message", shape: p.text},
			meta,
		),
		"notifications/message": objectOf(field{name: "logger", shape: p.text}, meta),
		"elicitation/create":    objectOf(field{name: "mode", shape: oneOf("form", "url")}, meta),
		"sampling/createMessage": objectOf(
			field{name: "modelPreferences", shape: objectOf(
				field{name: "hints", shape: listOf(objectOf(field{name: "name", shape: p.text}))},
				field{name: "costPriority", shape: share},
				field{name: "speedPriority", shape: share},
				field{name: "intelligencePriority", shape: share},
			)},
			field{name: "systemPrompt", shape: p.text},
			field{name: "includeContext", shape: oneOf("none", "thisServer", "allServers")},
			field{name: "temperature", shape: number},
			field{name: "maxTokens", shape: p.count},
			field{name: "stopSequences", shape: p.texts},
			field{name: "metadata", shape: p.object},
			field{name: "tools", shape: listOf(p.tool())},
			field{name: "toolChoice", shape: objectOf(field{name: "mode", shape: oneOf("auto", "required", "none")})},
			meta,
		),
	}
})
