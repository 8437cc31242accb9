package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/suggest"
)

// readArguments returns the arguments that args stand for as a JSON object.
func readArguments(schema json.RawMessage, args []string, stdin io.Reader) (json.RawMessage, error) {
	if len(args) == 1 && (args[0] == "-" || strings.HasPrefix(strings.TrimSpace(args[0]), "{")) {
		data := []byte(args[0])
		if args[0] == "-" {
			var err error
			if data, err = io.ReadAll(stdin); err != nil {
				return nil, fmt.Errorf("read arguments from standard input: %w", err)
			}
		}
		if data = bytes.TrimSpace(data); kindOf(string(data)) != "object" {
			return nil, fmt.Errorf("the arguments are not a JSON object")
		}
		return data, nil
	}
	return pairs(schema, args)
}

// pairs builds an object of KEY=VALUE arguments, in their order.
func pairs(schema json.RawMessage, args []string) (json.RawMessage, error) {
	var names []string
	values := map[string][]string{}
	for _, arg := range args {
		name, value, ok := strings.Cut(arg, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("argument %q is not KEY=VALUE; or give one JSON object, or - to read it", arg)
		}
		if _, again := values[name]; !again {
			names = append(names, name)
		}
		values[name] = append(values[name], value)
	}
	root := parseShape(schema)
	var b bytes.Buffer
	b.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		value, err := parseShape(root.Properties[name]).values(values[name])
		if err != nil {
			return nil, fmt.Errorf("argument %s: %w", name, err)
		}
		b.Write(cli.QuoteJSON(name))
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// unknownArguments returns lines about the arguments that the schema does not
// name, for a call that failed; "" if there are none. They are often why.
func unknownArguments(schema, arguments json.RawMessage) string {
	known := parseShape(schema).Properties
	var given map[string]json.RawMessage
	if len(known) == 0 || json.Unmarshal(arguments, &given) != nil {
		return ""
	}
	names := slices.Sorted(maps.Keys(known))
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, ok := known[name]; ok {
			continue
		}
		fmt.Fprintf(&b, "\nunknown argument %q; ", name)
		if near := suggest.Names(name, names, 3); len(near) > 0 {
			fmt.Fprintf(&b, "did you mean %s?", cleartext.Printable(strings.Join(near, " or ")))
		} else {
			fmt.Fprintf(&b, "the arguments are %s", cleartext.Printable(strings.Join(names, ", ")))
		}
	}
	return b.String()
}

// A shape is the part of a schema that determines how to read a typed value.
type shape struct {
	Types      stringOrList               `json:"type"`
	Items      json.RawMessage            `json:"items"`
	Properties map[string]json.RawMessage `json:"properties"`
}

type stringOrList []string

// UnmarshalJSON takes a name or an array of names.
func (l *stringOrList) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*l = stringOrList{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(l))
}

// parseShape returns the parts that it can read: schemas may have any form.
func parseShape(schema json.RawMessage) *shape {
	var s shape
	if len(schema) == 0 || json.Unmarshal(schema, &s) != nil {
		return &shape{}
	}
	return &s
}

// values reads the values of one argument, which is given once or more.
func (s *shape) values(texts []string) (json.RawMessage, error) {
	onlyList := len(s.Types) == 1 && s.Types[0] == "array"
	if len(texts) == 1 && (!onlyList || kindOf(texts[0]) == "array") {
		return s.value(texts[0]), nil
	}
	if len(s.Types) > 0 && !slices.Contains(s.Types, "array") {
		return nil, fmt.Errorf("it is given %d times but takes a single value", len(texts))
	}
	items := parseShape(s.Items)
	elements := make([][]byte, len(texts))
	for i, text := range texts {
		elements[i] = items.value(text)
	}
	return fmt.Appendf(nil, "[%s]", bytes.Join(elements, []byte(","))), nil
}

// value reads text as JSON if the schema takes that kind of JSON, or if it
// does not take text anyway; else as text. The tool's own validation reports
// values that do not fit.
func (s *shape) value(text string) json.RawMessage {
	kind := kindOf(text)
	fits := kind != "" && kind != "string" && (len(s.Types) == 0 || slices.Contains(s.Types, kind) ||
		kind == "integer" && slices.Contains(s.Types, "number"))
	takesText := len(s.Types) == 0 || slices.Contains(s.Types, "string")
	if fits || kind != "" && !takesText {
		return json.RawMessage(text)
	}
	return cli.QuoteJSON(text)
}

// kindOf returns the JSON type of text, "" if it is not JSON.
func kindOf(text string) string {
	if !json.Valid([]byte(text)) {
		return ""
	}
	text = strings.TrimLeft(text, " \t\r\n") // the white space of JSON
	kinds := map[byte]string{'{': "object", '[': "array", '"': "string", 't': "boolean", 'f': "boolean", 'n': "null"}
	switch kind, ok := kinds[text[0]]; {
	case ok:
		return kind
	case strings.ContainsAny(text, ".eE"):
		return "number"
	}
	return "integer"
}
