package configedit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/internal/nesting"
)

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
	case nesting.TooDeep(text, nesting.SkipJSON) >= 0:
		return nil, unreadable(fmt.Sprintf("it is nested more than %d levels deep", nesting.MaxDepth))
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

// edit makes a change, and checks it: the changed text must have the values that
// the text has if the same change is made without its comments. Otherwise the
// document stays as it is.
func (d *jsonDocument) edit(change func(*jsonDocument) error) error {
	got, err := d.changedCopy(false, change)
	if err != nil {
		return err
	}
	want, err := d.changedCopy(true, change)
	if err != nil {
		return err
	}
	if !bytes.Equal(got.values(), want.values()) {
		return errBroken
	}
	d.root = got.root
	return nil
}

// changedCopy returns a changed copy. If bare is true, it has no comments.
func (d *jsonDocument) changedCopy(bare bool, change func(*jsonDocument) error) (*jsonDocument, error) {
	c, err := openJSON(d.Bytes()) // a clone of the parsed value has no trailing commas
	if err != nil {
		return nil, err
	}
	if bare {
		c.root.Minimize()
	}
	if err := change(c); err != nil {
		return nil, err
	}
	if c, err = openJSON(c.Bytes()); err != nil {
		return nil, fmt.Errorf("%w: %w", errBroken, err)
	}
	return c, nil
}

// errBroken reports a change that would damage the file.
var errBroken = errors.New("the change would damage the file, which stays as it is; make it by hand")

// values returns the content without comments and white space.
func (d *jsonDocument) values() []byte {
	v := d.root.Clone()
	v.Minimize()
	return v.Pack()
}

func (d *jsonDocument) SetAll(members []Member, path ...string) error {
	return d.edit(func(d *jsonDocument) error {
		root := d.root.Value.(*hujson.Object)
		for _, m := range members {
			if err := d.set(layout{o: root, unit: unitOf(root)}, m.Value, append(path[:len(path):len(path)], m.Name), 0); err != nil {
				return err
			}
		}
		return nil
	})
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
	return d.edit(func(d *jsonDocument) error { return d.remove(path) })
}

// remove removes a member. The comments before and after it stay, because they may
// be about its neighbours.
func (d *jsonDocument) remove(path []string) error {
	o, i, err := d.find(path)
	if err != nil {
		return err
	}
	m, last := o.Members[i], i == len(o.Members)-1
	trailing := m.Value.AfterExtra != nil
	comments := []hujson.Extra{trimRight(m.Name.BeforeExtra), trimRight(m.Value.AfterExtra)}
	o.Members = append(o.Members[:i:i], o.Members[i+1:]...)
	switch {
	case !last:
		next := &o.Members[i].Name
		next.BeforeExtra = d.join(append(comments, next.BeforeExtra)...)
		return nil
	case i > 0 && !trailing:
		before := &o.Members[i-1].Value
		comments = append([]hujson.Extra{before.AfterExtra}, comments...) // it stood before the comma that goes
		before.AfterExtra = nil
	case i > 0 && o.Members[i-1].Value.AfterExtra == nil:
		o.Members[i-1].Value.AfterExtra = hujson.Extra{}
	}
	o.AfterExtra = d.join(append(comments, o.AfterExtra)...)
	if len(o.Members) == 0 && strings.TrimSpace(string(o.AfterExtra)) == "" {
		o.AfterExtra = nil
	}
	return nil
}

func trimRight(extra hujson.Extra) hujson.Extra { return bytes.TrimRight(extra, " \t\r\n") }

// join joins white space and comments that stand before a token. A comment that ends
// with its line must not contain what follows.
func (d *jsonDocument) join(parts ...hujson.Extra) (joined hujson.Extra) {
	for _, part := range parts {
		rest := strings.TrimLeft(string(part), " \t\r")
		if len(part) > 0 && !strings.HasPrefix(rest, "\n") && !strings.HasPrefix(rest, "//") && endsInLineComment(joined) {
			joined = append(joined, d.newline...)
		}
		joined = append(joined, part...)
	}
	if endsInLineComment(joined) {
		joined = append(joined, d.newline...)
	}
	return joined
}

// endsInLineComment reports whether what follows extra on its line would be a part
// of a comment.
func endsInLineComment(extra hujson.Extra) bool {
	for i := 0; i < len(extra); {
		end := nesting.SkipJSON(extra, i)
		if end > i && extra[i+1] == '/' && extra[end-1] != '\n' {
			return true
		}
		i = max(end, i+1)
	}
	return false
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
