package edit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// maxDepth bounds the nesting of a file, because the parser recurses.
const maxDepth = 500

// TooDeep returns the offset at which brackets are nested more than max levels
// deep, or -1.
func TooDeep(data []byte, max int) int {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == '\n':
			quoted = false
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > max {
				return i
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return -1
}

// A jsonDocument is JSON with comments and trailing commas.
type jsonDocument struct {
	mark    []byte // the byte order mark
	root    hujson.Value
	newline string
}

func openJSON(data []byte) (*jsonDocument, error) {
	text := bytes.TrimPrefix(data, byteOrderMark)
	d := &jsonDocument{mark: data[:len(data)-len(text)], newline: newline(data)}
	switch {
	case !utf8.Valid(text):
		return nil, unreadable("it is not UTF-8 text")
	case TooDeep(text, maxDepth) >= 0:
		return nil, unreadable(fmt.Sprintf("it is nested more than %d levels deep", maxDepth))
	case len(bytes.TrimSpace(text)) == 0:
		text = []byte("{}" + d.newline)
	}
	root, err := hujson.Parse(text)
	if err != nil { // a file of comments stands for an empty one
		var comments error
		if root, comments = hujson.Parse(append(bytes.Clone(text), d.newline+"{}"+d.newline...)); comments != nil {
			return nil, unreadable("it is not JSON with comments")
		}
	}
	if _, ok := root.Value.(*hujson.Object); !ok {
		return nil, unreadable("it is not an object")
	}
	d.root = root
	return d, nil
}

func (d *jsonDocument) Bytes() []byte { return append(bytes.Clone(d.mark), d.root.Pack()...) }

func (d *jsonDocument) Get(path ...string) (json.RawMessage, error) {
	o, i, err := d.find(path)
	if o == nil || i < 0 || err != nil {
		return nil, err
	}
	v := o.Members[i].Value.Clone()
	v.Minimize()
	return json.RawMessage(v.Pack()), nil
}

// find returns the object that contains a member, nil if there is none, and the
// index of the member, -1 if there is none.
func (d *jsonDocument) find(path []string) (o *hujson.Object, i int, err error) {
	o = d.root.Value.(*hujson.Object)
	last := len(path) - 1
	for n, name := range path[:last] {
		if i, err = index(o, name); i < 0 || err != nil {
			return nil, -1, err
		}
		child, ok := o.Members[i].Value.Value.(*hujson.Object)
		if !ok {
			return nil, -1, notTable(path[:n+1])
		}
		o = child
	}
	i, err = index(o, path[last])
	return o, i, err
}

// index returns the index of a member, or -1. Readers differ in which of two
// members of one name they take.
func index(o *hujson.Object, name string) (int, error) {
	found := -1
	for i := range o.Members {
		if o.Members[i].Name.Value.(hujson.Literal).String() != name {
			continue
		}
		if found >= 0 {
			return -1, fmt.Errorf("it has the key %q twice; keep one", name)
		}
		found = i
	}
	return found, nil
}

func (d *jsonDocument) Set(value json.RawMessage, path ...string) error {
	root := d.root.Value.(*hujson.Object)
	return d.set(layout{o: root, unit: unitOf(root)}, value, path, 0)
}

// A layout is an object and the white space of its lines.
type layout struct {
	o    *hujson.Object
	base string // the indentation of the line on which the object begins
	unit string // one more level
}

// indent returns the indentation of the members.
func (l *layout) indent() string {
	if len(l.o.Members) == 0 {
		return l.base + l.unit
	}
	return lastLine(string(l.o.Members[0].Name.BeforeExtra), l.base+l.unit)
}

func (d *jsonDocument) set(l layout, value json.RawMessage, path []string, depth int) error {
	i, err := index(l.o, path[depth])
	if err != nil {
		return err
	}
	last := depth == len(path)-1
	switch {
	case i < 0:
		for n := len(path) - 1; n > depth; n-- {
			value = json.RawMessage("{" + string(hujson.String(path[n])) + ":" + string(value) + "}")
		}
		return d.append(l, path[depth], value)
	case last:
		l.o.Members[i].Value.Value, err = d.pretty(value, l.indent(), l.unit)
		return err
	}
	child, ok := l.o.Members[i].Value.Value.(*hujson.Object)
	if !ok {
		return notTable(path[:depth+1])
	}
	return d.set(layout{child, lastLine(string(l.o.Members[i].Name.BeforeExtra), l.indent()), l.unit}, value, path, depth+1)
}

// append adds a member on lines of its own, indented as its neighbours.
func (d *jsonDocument) append(l layout, name string, value json.RawMessage) error {
	indent := l.indent()
	if deeper, ok := strings.CutPrefix(indent, l.base); ok && deeper != "" {
		l.unit = deeper
	}
	text, err := d.pretty(value, indent, l.unit)
	if err != nil {
		return err
	}
	after := string(l.o.AfterExtra)
	m := hujson.ObjectMember{
		Name:  hujson.Value{Value: hujson.String(name)},
		Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: text},
	}
	m.Name.BeforeExtra = hujson.Extra(strings.TrimRight(after, " \t\r\n") + d.newline + indent)
	if n := len(l.o.Members); n > 0 && l.o.Members[n-1].Value.AfterExtra != nil {
		m.Value.AfterExtra = hujson.Extra{} // continues with trailing commas
	}
	l.o.Members = append(l.o.Members, m)
	l.o.AfterExtra = hujson.Extra(d.newline + lastLine(after, l.base))
	return nil
}

// pretty returns a value on lines of its own.
func (d *jsonDocument) pretty(value json.RawMessage, indent, unit string) (hujson.ValueTrimmed, error) {
	var b bytes.Buffer
	if err := json.Indent(&b, value, indent, unit); err != nil {
		return nil, err
	}
	return hujson.Literal(bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte(d.newline))), nil
}

func (d *jsonDocument) Remove(path ...string) error {
	o, i, err := d.find(path)
	if o == nil || i < 0 || err != nil {
		return err
	}
	comments := strings.TrimRight(string(o.Members[i].Name.BeforeExtra), " \t\r\n")
	last := i == len(o.Members)-1
	trailing := o.Members[i].Value.AfterExtra != nil
	o.Members = append(o.Members[:i:i], o.Members[i+1:]...)
	switch {
	case !last:
		next := &o.Members[i].Name
		next.BeforeExtra = hujson.Extra(comments + string(next.BeforeExtra))
		return nil
	case i > 0 && !trailing:
		before := &o.Members[i-1].Value
		comments = string(before.AfterExtra) + comments // it stood before the comma that goes
		before.AfterExtra = nil
	case i > 0 && o.Members[i-1].Value.AfterExtra == nil:
		o.Members[i-1].Value.AfterExtra = hujson.Extra{}
	}
	o.AfterExtra = hujson.Extra(comments + string(o.AfterExtra))
	if len(o.Members) == 0 && strings.TrimSpace(string(o.AfterExtra)) == "" {
		o.AfterExtra = nil
	}
	return nil
}

// unitOf returns the indentation of one level.
func unitOf(root *hujson.Object) string {
	if len(root.Members) > 0 {
		if indent := lastLine(string(root.Members[0].Name.BeforeExtra), ""); indent != "" {
			return indent
		}
	}
	return "  "
}

// lastLine returns the white space that begins the last line of extra, or
// otherwise if extra has no line break.
func lastLine(extra, otherwise string) string {
	i := strings.LastIndexByte(extra, '\n')
	if i < 0 {
		return otherwise
	}
	line := extra[i+1:]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}
