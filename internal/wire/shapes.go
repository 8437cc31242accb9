package wire

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// The shapes of definitions follow the published schemas of MCP. A member that a
// version does not have stays: its clients ignore it.

const digits = "-0123456789"

// shapes returns the shape of each kind of definition.
var shapes = sync.OnceValue(func() map[Kind]*shape {
	p := newParts()
	resource := append(p.resource("uri"), field{name: "size", shape: p.count})
	resource = append(resource, p.uri(nil)...)
	template := append(p.resource("uriTemplate"), field{name: "uriTemplate", shape: p.text, required: true})
	return map[Kind]*shape{KindTool: p.tool(), KindPrompt: p.prompt(), KindResource: objectOf(resource...), KindTemplate: objectOf(template...)}
})

// parts are shapes that several others consist of.
type parts struct {
	text, flag, object, texts *shape
	count                     *shape // an integer that all clients read as one
	role, icons, annotations  *shape
}

func newParts() *parts {
	p := &parts{
		text:   &shape{begins: `"`, what: "a string"},
		flag:   &shape{begins: "tf", what: "a boolean"},
		object: &shape{begins: "{", what: "an object"},
		count:  &shape{begins: digits, what: "an integer", accepts: isCount, convert: toCount},
		role:   oneOf("user", "assistant"),
	}
	p.texts = listOf(p.text)
	p.icons = listOf(objectOf(
		field{name: "src", shape: p.text, required: true},
		field{name: "mimeType", shape: p.text},
		field{name: "sizes", shape: p.texts},
		field{name: "theme", shape: oneOf("light", "dark")},
	))
	p.annotations = objectOf(
		field{name: "audience", shape: listOf(p.role)},
		field{name: "priority", shape: &shape{begins: digits, what: "a number from 0 to 1", accepts: isPriority}},
		field{name: "lastModified", shape: &shape{begins: `"`, what: "a time by RFC 3339", accepts: isTime, convert: toTime}},
	)
	return p
}

// tool returns the shape of tools. The output schema of sessions describes an
// object, as their structured content is one; whether a schema without properties
// does so is not known.
func (p *parts) tool() *shape {
	input := p.schema(constant(`"object"`))
	output := p.schema(typeOfOutput)
	return objectOf(
		field{name: "name", shape: p.text, required: true},
		field{name: "title", shape: p.text},
		field{name: "description", shape: p.text},
		field{name: "inputSchema", shape: input, required: true, missing: constant(`{"type":"object"}`)},
		field{name: "outputSchema", shape: output, last: LastSession},
		field{name: "outputSchema", shape: objectOf(field{name: "$schema", shape: p.text}), first: Stateless},
		field{name: "annotations", shape: objectOf(
			field{name: "title", shape: p.text},
			field{name: "readOnlyHint", shape: p.flag},
			field{name: "destructiveHint", shape: p.flag},
			field{name: "idempotentHint", shape: p.flag},
			field{name: "openWorldHint", shape: p.flag},
		)},
		field{name: "icons", shape: p.icons},
		field{name: "execution", shape: objectOf(field{name: "taskSupport", shape: oneOf("forbidden", "optional", "required")})},
		field{name: "_meta", shape: p.object},
	)
}

// schema returns the shape of an object that is a schema, as far as MCP describes
// it. Up to 2025-11-25, the schema of a property is an object. Missing returns the
// type where it is not that of an object.
func (p *parts) schema(missing func(*mender, json.RawMessage) json.RawMessage) *shape {
	property := &shape{begins: "{", what: "a schema", convert: schemaOf}
	return objectOf(
		field{name: "type", shape: oneOf("object"), required: true, missing: missing},
		field{name: "$schema", shape: p.text},
		field{name: "properties", shape: &shape{begins: "{", what: "an object", values: property}, last: LastSession},
		field{name: "required", shape: p.texts, last: LastSession},
	)
}

func (p *parts) prompt() *shape {
	return objectOf(
		field{name: "name", shape: p.text, required: true},
		field{name: "title", shape: p.text},
		field{name: "description", shape: p.text},
		field{name: "arguments", shape: listOf(objectOf(
			field{name: "name", shape: p.text, required: true},
			field{name: "title", shape: p.text},
			field{name: "description", shape: p.text},
			field{name: "required", shape: p.flag},
		))},
		field{name: "icons", shape: p.icons},
		field{name: "_meta", shape: p.object},
	)
}

// resource returns the members that resources and their templates share. One
// without a name is named by its address.
func (p *parts) resource(address string) []field {
	named := func(_ *mender, object json.RawMessage) json.RawMessage {
		if value := Get(object, address); len(value) > 0 && value[0] == '"' {
			return Quote(RestoreURI(Unquote(value)))
		}
		return nil
	}
	return []field{
		{name: "name", shape: p.text, required: true, missing: named},
		{name: "title", shape: p.text},
		{name: "description", shape: p.text},
		{name: "mimeType", shape: p.text},
		{name: "annotations", shape: p.annotations},
		{name: "icons", shape: p.icons},
		{name: "_meta", shape: p.object},
	}
}

// uri returns the members of an object that is named by a URI. Clients with sessions
// may parse it; later ones read it as a text.
func (p *parts) uri(missing func(*mender, json.RawMessage) json.RawMessage) []field {
	parsed := &shape{begins: `"`, what: "a URI that clients can parse", accepts: isURI, convert: toURI}
	return []field{
		{name: "uri", shape: parsed, required: true, missing: missing, last: LastSession},
		{name: "uri", shape: p.text, required: true, missing: missing, first: Stateless},
	}
}

// schemaOf returns the object that means the same as a schema that is a boolean. Any
// other value restricts nothing.
func schemaOf(raw json.RawMessage, _ string) json.RawMessage {
	if string(raw) == "false" {
		return json.RawMessage(`{"not":{}}`)
	}
	return json.RawMessage("{}")
}

// typeOfOutput returns the type of an output schema that has properties.
func typeOfOutput(_ *mender, schema json.RawMessage) json.RawMessage {
	if Get(schema, "type") == nil && IsObject(Get(schema, "properties")) {
		return json.RawMessage(`"object"`)
	}
	return nil
}

func objectOf(fields ...field) *shape {
	return &shape{begins: "{", what: "an object", fields: fields}
}

func listOf(values *shape) *shape {
	return &shape{begins: "[", what: "an array", values: values}
}

// oneOf returns the shape of a string that is one of some.
func oneOf(values ...string) *shape {
	return &shape{begins: `"`, what: strings.Join(values, " or "), accepts: func(raw json.RawMessage) bool {
		return slices.Contains(values, Unquote(raw))
	}}
}

func constant(value string) func(*mender, json.RawMessage) json.RawMessage {
	return func(*mender, json.RawMessage) json.RawMessage { return json.RawMessage(value) }
}

// isCount reports whether a number is an integer from 0 to 2^53-1, written as one.
func isCount(raw json.RawMessage) bool {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return err == nil && n >= 0 && n <= maxSafe && raw[0] != '-'
}

// toCount returns an integer that is written with a fraction or an exponent as
// others are.
func toCount(raw json.RawMessage, _ string) json.RawMessage {
	if len(raw) > 40 || strings.IndexByte(digits, raw[0]) < 0 || !jsontree.ParseDecimal(raw).IsInteger() {
		return nil
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || n < 0 || n > maxSafe {
		return nil
	}
	return strconv.AppendInt(nil, int64(n), 10)
}

func isPriority(raw json.RawMessage) bool {
	n, err := strconv.ParseFloat(string(raw), 64)
	return err == nil && n >= 0 && n <= 1
}

// isTime reports whether a text is a date and a time with a zone. The seconds may be
// missing. Other readers are stricter than [time.Parse].
func isTime(raw json.RawMessage) bool {
	at := Unquote(raw)
	_, err := time.Parse(time.RFC3339, at)
	if err != nil {
		_, err = time.Parse("2006-01-02T15:04Z07:00", at)
	}
	if err != nil {
		return false
	}
	zone := at[len(at)-6:]
	return at[13] == ':' && !strings.Contains(at, ",") && !strings.HasPrefix(zone, "+24") && !strings.HasPrefix(zone, "-24")
}

// toTime returns the time at which a date begins.
func toTime(raw json.RawMessage, _ string) json.RawMessage {
	date, err := time.Parse(time.DateOnly, Unquote(raw))
	if err != nil {
		return nil
	}
	return Quote(date.Format(time.RFC3339))
}
