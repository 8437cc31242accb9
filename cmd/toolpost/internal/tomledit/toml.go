// Package tomledit changes tables of TOML files that people write, such as the one in which
// Codex has its servers. Everything else stays as it is: comments, order, line endings.
package tomledit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/configedit"
)

// A document is TOML. No encoder keeps comments, so an edit replaces lines,
// and is checked: the changed text must have the same values but for the member.
type document struct {
	text    []byte
	values  map[string]any
	newline string
}

// Open parses TOML. The error does not quote the content, which may be secret.
func Open(data []byte) (configedit.Document, error) {
	values, err := configedit.DecodeTOML(data)
	if err != nil {
		return nil, errors.New("it cannot be parsed: it is not TOML, or too large") // the parser's error may show values
	}
	if values == nil {
		values = map[string]any{}
	}
	newline := "\n"
	if before, _, found := bytes.Cut(data, []byte("\n")); found && bytes.HasSuffix(before, []byte("\r")) {
		newline = "\r\n"
	}
	return &document{data, values, newline}, nil
}

func (d *document) Bytes() []byte { return bytes.Clone(d.text) }

func (d *document) Get(path ...string) (json.RawMessage, error) {
	var v any = d.values
	for n, name := range path {
		table, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%q is not an object", strings.Join(path[:n], "."))
		}
		if v, ok = table[name]; !ok {
			return nil, nil
		}
	}
	return json.Marshal(v)
}

func (d *document) set(value json.RawMessage, path []string) error {
	block, err := d.render(value, path)
	if err != nil {
		return err
	}
	return d.put(block, path)
}

// put writes a block of tables in the place of those of a member.
func (d *document) put(block []byte, path []string) error {
	added, err := configedit.DecodeTOML(block)
	if err != nil {
		return fmt.Errorf("write the value as TOML: %w", err)
	}
	text, _, start := d.split(path)
	if isValue(text, path) {
		return errByHand
	}
	if start < 0 {
		start = len(text)
	}
	before, after := text[:start], text[start:]
	if len(before) > 0 && before[len(before)-1] != '\n' {
		before = append(bytes.Clone(before), d.newline...)
	}
	if len(bytes.TrimSpace(before)) > 0 && !endsBlank(before) {
		before = append(bytes.Clone(before), d.newline...)
	}
	if len(after) > 0 && !startsBlank(after) {
		after = append([]byte(d.newline), after...)
	}
	return d.replace(slices.Concat(before, block, after), graft(d.values, lookup(added, path), path))
}

func (d *document) SetAll(members []configedit.Member, path ...string) error {
	changed := *d
	for _, m := range members {
		if err := changed.set(m.Value, append(path[:len(path):len(path)], m.Name)); err != nil {
			return err
		}
	}
	*d = changed
	return nil
}

func (d *document) Remove(path ...string) error {
	if v, err := d.Get(path...); v == nil || err != nil {
		return err
	}
	text, _, start := d.split(path)
	if start < 0 {
		return errByHand
	}
	if before, after := text[:start], text[start:]; endsBlank(before) && (startsBlank(after) || len(after) == 0) {
		before = bytes.TrimSuffix(bytes.TrimSuffix(before, []byte("\n")), []byte("\r"))
		text = slices.Concat(before, after)
	}
	return d.replace(text, graft(d.values, nil, path))
}

func (d *document) Restore(old configedit.Document, path ...string) error {
	value, err := old.Get(path...)
	if err != nil {
		return err
	}
	if _, block, _ := old.(*document).split(path); len(block) > 0 && d.put(block, path) == nil {
		if got, err := d.Get(path...); err == nil && bytes.Equal(got, value) {
			return nil
		}
	}
	return configedit.Set(d, value, path...)
}

// errByHand reports an entry that is written in a form that is not edited, such
// as an inline table.
var errByHand = errors.New("the entry is written in a form that cannot be changed without changing other lines")

// replace takes a new text if it has the wanted values.
func (d *document) replace(text []byte, want map[string]any) error {
	got, err := configedit.DecodeTOML(text)
	if got == nil {
		got = map[string]any{}
	}
	if err != nil || !reflect.DeepEqual(prune(got), prune(want)) {
		return errByHand
	}
	d.text, d.values = text, got
	return nil
}

func endsBlank(text []byte) bool {
	return bytes.HasSuffix(text, []byte("\n\n")) || bytes.HasSuffix(text, []byte("\n\r\n"))
}

func startsBlank(text []byte) bool {
	return bytes.HasPrefix(text, []byte("\n")) || bytes.HasPrefix(text, []byte("\r\n"))
}

// split returns the text without the tables of a member, the lines of these tables, and
// the offset at which the first of them was, -1 if there is none.
func (d *document) split(path []string) (text, tables []byte, start int) {
	start = -1
	kept, inside, open := 0, false, false
	for _, s := range statements(d.text) {
		if s.key != nil {
			inside = len(s.key) >= len(path) && slices.Equal(s.key[:len(path)], path)
		}
		if inside && !open {
			text = append(text, d.text[kept:s.start]...)
			kept = s.start
		}
		if inside && start < 0 {
			start = len(text)
		}
		if open = inside; inside {
			tables = append(tables, d.text[kept:s.end]...)
			kept = s.end
		}
	}
	if len(tables) > 0 && !bytes.HasSuffix(tables, []byte("\n")) {
		tables = append(tables, d.newline...)
	}
	return append(text, d.text[kept:]...), tables, start
}

// isValue reports whether the text has a key with a value where a table at path
// would be: TOML does not let a table extend an inline one, and a client that reads
// the file would refuse all of it. The parser used here accepts that.
func isValue(text []byte, path []string) bool {
	var table []string
	for _, s := range statements(text) {
		if s.key != nil {
			table = s.key
			continue
		}
		key := slices.Concat(table, keyOf(string(text[s.start:s.end])))
		if n := min(len(key), len(path)); slices.Equal(key[:n], path[:n]) {
			return true
		}
	}
	return false
}

// lookup returns the member at path, nil if there is none.
func lookup(values map[string]any, path []string) any {
	var v any = values
	for _, name := range path {
		table, _ := v.(map[string]any)
		v = table[name]
	}
	return v
}

// graft returns values with the member at path replaced, or removed if v is nil.
func graft(values map[string]any, v any, path []string) map[string]any {
	out := map[string]any{}
	for name, value := range values {
		out[name] = value
	}
	switch child, _ := values[path[0]].(map[string]any); {
	case len(path) > 1:
		out[path[0]] = graft(child, v, path[1:])
	case v == nil:
		delete(out, path[0])
	default:
		out[path[0]] = v
	}
	return out
}

// prune returns values without empty tables: a header without members is the
// same as none.
func prune(values map[string]any) map[string]any {
	out := map[string]any{}
	for name, v := range values {
		if table, ok := v.(map[string]any); ok {
			if table = prune(table); len(table) > 0 {
				out[name] = table
			}
			continue
		}
		out[name] = v
	}
	return out
}
