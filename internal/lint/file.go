// Package lint checks tools against what clients and models accept, and writes
// what it finds in several formats.
package lint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dialect"
	"github.com/toolpost/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/lower"
)

const fileShape = `want an array of tools, the result of tools/list, or the whole response of a server`

// A File is a JSON file of tools.
type File struct {
	Path  string // as it was given
	data  []byte
	lines []int // where they begin
	Tools []*Tool
}

// A Tool is one tool of a source. A part that does not fit a [toolpost.Tool] is left
// out and becomes a fault.
type Tool struct {
	*toolpost.Tool          // without Input if there is none; nil if it cannot be read
	name           string   // "" if there is none
	raw            []byte   // nil if it is not of a file
	start          int      // in the file
	doc            *jsonDoc // once a place in it was asked for
	faults         []fault
}

// A fault is a mistake in a definition as it is written.
type fault struct {
	rule, pointer, text string
	keyword             string // of the definition, that is left out for it
}

// ParseFile reads tools. Path is for messages.
func ParseFile(path string, data []byte) (*File, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	f := &File{Path: path, data: data, lines: []int{0}}
	for i, c := range data {
		if c == '\n' {
			f.lines = append(f.lines, i+1)
		}
	}
	if err := checkJSON(data); err != nil {
		line, column := f.Position(err.offset)
		return nil, fmt.Errorf("%s:%d:%d: %w", path, line, column, err.error)
	}
	list := f.list()
	if list.end == 0 {
		return nil, fmt.Errorf("%s has no tools; %s; name a configuration with --config", path, fileShape)
	}
	for _, p := range jsonParts(data[list.start:list.end]) {
		f.Tools = append(f.Tools, readFileTool(data, list.start+p.start, list.start+p.end))
	}
	return f, nil
}

type syntaxError struct {
	error
	offset int
}

// checkJSON reports data that is not JSON. The depth of nesting does not matter
// here: it is a matter of single tools.
func checkJSON(data []byte) *syntaxError {
	if json.Valid(data) {
		return nil
	}
	var syntax *json.SyntaxError
	switch err := json.Unmarshal(data, new(json.RawMessage)); {
	case !errors.As(err, &syntax) || strings.Contains(err.Error(), "max depth"):
		return nil
	case len(bytes.TrimSpace(data)) == 0:
		return &syntaxError{errors.New("it is empty; " + fileShape), 0}
	default:
		return &syntaxError{err, int(syntax.Offset) - 1}
	}
}

// list returns where the tools are; its end is 0 if there are none.
func (f *File) list() jsonPart {
	doc := newJSONDoc(f.data)
	for _, pointer := range []string{"/result/tools", "/tools", ""} {
		if p, ok := doc.find(pointer); ok && p.start < p.end && f.data[p.start] == '[' {
			return p
		}
	}
	return jsonPart{}
}

func readFileTool(data []byte, start, end int) *Tool {
	raw := data[start:end]
	t := &Tool{raw: raw, start: start}
	members := map[string]json.RawMessage{}
	for _, p := range jsonParts(raw) {
		members[p.name] = raw[p.start:p.end]
	}
	t.name = unquote(members["name"])
	switch {
	case !json.Valid(raw):
		t.fault("depth", "", "", "it is nested too deeply")
		return t
	case raw[0] != '{':
		t.fault("poison-root-type", "", "", "the tool is %s, want an object", excerpt(raw))
		return t
	}
	if t.name == "" {
		t.nameless(members["name"])
		return t
	}
	input, err := readSchema(members["inputSchema"])
	if err != nil {
		t.fault("poison-root-type", "inputSchema", "", "it is %s, want an object", excerpt(members["inputSchema"]))
		return t
	}
	t.Tool = &toolpost.Tool{Definition: toolpost.Definition{Name: t.name, Input: input, Source: raw}, Handler: uncallable}
	t.Title, t.Description = t.text(members, "title"), t.text(members, "description")
	if out := members["outputSchema"]; out != nil {
		if t.Output, _ = readSchema(out); t.Output == nil {
			t.fault("poison-output", "outputSchema", "outputSchema", "it is %s, want an object", excerpt(out))
		}
	}
	if a := members["annotations"]; a != nil && json.Unmarshal(a, &t.Annotations) != nil {
		t.Annotations = toolpost.Annotations{}
		t.fault("poison-null", "annotations", "annotations", "annotations is %s", excerpt(a))
	}
	if meta := members["_meta"]; meta != nil && meta[0] == '{' {
		t.Meta = meta
	}
	return t
}

// nameless records that the tool cannot be called because raw is not a name.
func (t *Tool) nameless(raw json.RawMessage) {
	switch {
	case raw == nil:
		t.fault("name", "name", "", "the tool has no name, so it cannot be called")
	case raw[0] == '"':
		t.fault("name", "name", "", "the name is empty, so the tool cannot be called")
	default:
		t.fault("name", "name", "", "the name is %s, want a string, so the tool cannot be called", excerpt(raw))
	}
}

func (t *Tool) fault(rule, member, left, format string, args ...any) {
	pointer := ""
	if member != "" {
		pointer = "/" + member
	}
	t.faults = append(t.faults, fault{rule, pointer, fmt.Sprintf(format, args...), left})
}

// readSchema reads a schema; it is nil if there is none, or null.
func readSchema(raw json.RawMessage) (*schema.Schema, error) {
	if raw == nil || string(raw) == "null" {
		return nil, nil
	}
	return schema.Parse(raw)
}

// text reads a member that is a text.
func (t *Tool) text(members map[string]json.RawMessage, name string) string {
	raw := members[name]
	if raw != nil && raw[0] != '"' {
		t.fault("poison-null", name, name, "%s is %s, want a string", name, excerpt(raw))
	}
	return unquote(raw)
}

func excerpt(raw []byte) string {
	return terminal.Cut(terminal.Printable(string(raw[:min(len(raw), 200)])), 40)
}

// uncallable is the handler of tools that are only known from a file.
func uncallable(context.Context, *toolpost.Call) (*toolpost.Result, error) {
	return nil, errors.New("the tool is only known from a file")
}

// original returns the tool to adapt. One without a schema takes anything.
func (t *Tool) original() (*toolpost.Tool, []lower.Loss) {
	var losses []lower.Loss
	for _, f := range t.faults {
		losses = append(losses, lower.Loss{Keyword: f.keyword, Kind: lower.Dropped, Detail: f.text})
	}
	if t.Input == nil {
		repaired := *t.Tool
		repaired.Input = schema.MustParse(`{"type":"object"}`)
		return &repaired, append(losses, lower.Loss{Keyword: "inputSchema", Kind: lower.Noop, Detail: "there is none; any arguments are accepted"})
	}
	return t.Tool, losses
}

// findings returns the faults as findings under d.
func (t *Tool) findings(d *dialect.Dialect, rules map[string]*dialect.Rule) (all []dialect.Finding) {
	for _, f := range t.faults {
		r := rules[f.rule]
		effect := r.EffectFor(d)
		if t.name == "" && f.rule == "name" && rank(effect) > rank(dialect.BreaksCall) {
			effect = dialect.BreaksCall
		}
		all = append(all, dialect.Finding{Tool: t.name, Rule: r.ID(d), Effect: effect, Pointer: f.pointer, Message: f.text})
	}
	return all
}

// Position returns line and column of an offset, from 1; a column is a
// character.
func (f *File) Position(offset int) (line, column int) {
	offset = min(max(offset, 0), len(f.data))
	line = sort.SearchInts(f.lines, offset+1)
	return line, 1 + utf8.RuneCount(f.data[f.lines[line-1]:offset])
}
