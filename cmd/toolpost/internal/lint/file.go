// Package lint runs the rules of package dialect on tools, and writes the findings as
// text, JSON, SARIF, JUnit or annotations of GitHub.
package lint

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

const fileShape = `want an array of tools, the result of tools/list, or the whole response of a server`

// maxLevels is how deep a file may be nested. A tool may be nested less deep.
const maxLevels = 100_000

// A File is a JSON file of tools.
type File struct {
	Path  string // as it was given
	Tools []*Tool
	data  []byte
	marks []mark
}

// A mark is a known place in a file: the beginning of a line, or of a piece of a
// long one.
type mark struct{ offset, line, column int }

// markEvery is how many bytes are counted from a mark, at most.
const markEvery = 1024

// A Tool is one tool of a source. A part that does not fit a [toolpost.Tool] is left
// out and becomes a fault.
type Tool struct {
	*toolpost.Tool                 // without Input if there is none; nil if it cannot be read
	name           string          // "" if there is none
	written        *jsontree.Value // the definition; nil if it is not of a file and was not asked for
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
	f := &File{Path: path, data: data, marks: marksOf(data)}
	root, broken := jsontree.ParseLenient(data, maxLevels)
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return nil, fmt.Errorf("%s:1:1: it is empty; %s", path, fileShape)
	case broken != nil:
		line, column := f.position(broken.Offset)
		return nil, fmt.Errorf("%s:%d:%d: it cannot be read: expected %s", path, line, column, broken.Expected)
	}
	for _, pointer := range []string{"/result/tools", "/tools", ""} {
		if list := root.At(pointer); list != nil && list.Kind == jsontree.KindArray {
			for _, v := range list.Kids {
				f.Tools = append(f.Tools, readFileTool(v))
			}
			return f, nil
		}
	}
	return nil, fmt.Errorf("%s has no tools; %s; name a configuration with --config", path, fileShape)
}

func readFileTool(v *jsontree.Value) *Tool {
	t := &Tool{written: v}
	name := v.Get("name")
	if name != nil {
		t.name = name.Text
	}
	switch {
	case !json.Valid(v.Raw):
		t.fault("depth", "", "", "it is nested too deeply")
		return t
	case v.Kind != jsontree.KindObject:
		t.fault("poison-root-type", "", "", "the tool is %s, want an object", excerpt(v))
		return t
	case t.name == "":
		t.faultName(name)
		return t
	}
	input, err := readSchema(v.Get("inputSchema"))
	if err != nil {
		t.fault("poison-root-type", "inputSchema", "", "it is %s, want an object", excerpt(v.Get("inputSchema")))
		return t
	}
	t.Tool = &toolpost.Tool{Definition: toolpost.Definition{Name: t.name, Input: input, Raw: v.Raw}, Handler: refuseCall}
	t.Title, t.Description = t.text("title"), t.text("description")
	if out := v.Get("outputSchema"); out != nil {
		if t.Output, _ = readSchema(out); t.Output == nil {
			t.fault("poison-output", "outputSchema", "outputSchema", "it is %s, want an object", excerpt(out))
		}
	}
	if a := v.Get("annotations"); a != nil && json.Unmarshal(a.Raw, &t.Annotations) != nil {
		t.Annotations = toolpost.Annotations{}
		t.fault("poison-null", "annotations", "annotations", "annotations is %s", excerpt(a))
	}
	if meta := v.Get("_meta"); meta != nil && meta.Kind == jsontree.KindObject {
		t.Meta = meta.Raw
	}
	return t
}

// faultName records that the tool cannot be called because v is not a name.
func (t *Tool) faultName(v *jsontree.Value) {
	switch {
	case v == nil:
		t.fault("name", "name", "", "the tool has no name, so it cannot be called")
	case v.Kind == jsontree.KindString:
		t.fault("name", "name", "", "the name is empty, so the tool cannot be called")
	default:
		t.fault("name", "name", "", "the name is %s, want a string, so the tool cannot be called", excerpt(v))
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
func readSchema(v *jsontree.Value) (*schema.Schema, error) {
	if v == nil || v.Kind == jsontree.KindNull {
		return nil, nil
	}
	return schema.Parse(v.Raw)
}

// text reads a member that is a text.
func (t *Tool) text(name string) string {
	v := t.written.Get(name)
	if v == nil {
		return ""
	}
	if v.Kind != jsontree.KindString {
		t.fault("poison-null", name, name, "%s is %s, want a string", name, excerpt(v))
	}
	return v.Text
}

func excerpt(v *jsontree.Value) string {
	return terminal.Cut(cleartext.Printable(string(v.Raw[:min(len(v.Raw), 200)])), 40)
}

// refuseCall is the handler of tools that are only known from a file.
func refuseCall(context.Context, *toolpost.Call) (*toolpost.Result, error) {
	return nil, errors.New("the tool is only known from a file")
}

// toolToAdapt returns the tool with a schema: one without takes anything.
func (t *Tool) toolToAdapt() (*toolpost.Tool, []dialect.Loss) {
	var losses []dialect.Loss
	for _, f := range t.faults {
		losses = append(losses, dialect.Loss{Keyword: f.keyword, Kind: "dropped", Detail: f.text})
	}
	if t.Input == nil {
		repaired := *t.Tool
		repaired.Input = schema.MustParse(`{"type":"object"}`)
		return &repaired, append(losses, dialect.Loss{Keyword: "inputSchema", Kind: "noop", Detail: "there is none; any arguments are accepted"})
	}
	return t.Tool, losses
}

// breaksCall is the effect of a tool without a name, at least.
const breaksCall dialect.Effect = "calls of the tool fail"

// findings returns the faults as findings under d.
func (t *Tool) findings(d *dialect.Dialect, rules map[string]*dialect.Rule) (all []dialect.Finding) {
	for _, f := range t.faults {
		r := rules[f.rule]
		effect := r.EffectFor(d)
		if t.name == "" && f.rule == "name" && effect.Rank() > breaksCall.Rank() {
			effect = breaksCall
		}
		all = append(all, dialect.Finding{Tool: t.name, Rule: r.ID(d), Effect: effect, Pointer: f.pointer, Message: f.text})
	}
	return all
}

// marksOf returns the marks of data.
func marksOf(data []byte) []mark {
	last := mark{0, 1, 1}
	marks := []mark{last}
	for i, c := range data {
		switch {
		case c == '\n':
			last = mark{i + 1, last.line + 1, 1}
		case i-last.offset >= markEvery && utf8.RuneStart(c):
			last = mark{i, last.line, last.column + utf8.RuneCount(data[last.offset:i])}
		default:
			continue
		}
		marks = append(marks, last)
	}
	return marks
}

// position returns line and column of an offset, from 1; a column is a
// character.
func (f *File) position(offset int) (line, column int) {
	offset = min(max(offset, 0), len(f.data))
	i := sort.Search(len(f.marks), func(i int) bool { return f.marks[i].offset > offset })
	from := f.marks[i-1]
	return from.line, from.column + utf8.RuneCount(f.data[from.offset:offset])
}
