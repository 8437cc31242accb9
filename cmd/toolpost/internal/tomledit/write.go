package tomledit

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// render writes an object as a table with that path.
func (d *document) render(value json.RawMessage, path []string) ([]byte, error) {
	v, err := hujson.Parse(value)
	if err != nil {
		return nil, err
	}
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("only objects can be written as tables of TOML")
	}
	names := make([]string, len(path))
	for i, name := range path {
		names[i] = tomlKey(name)
	}
	b := bytes.NewBufferString("[" + strings.Join(names, ".") + "]" + d.newline)
	for _, m := range o.Members {
		b.WriteString(tomlKey(m.Name.Value.(hujson.Literal).String()) + " = ")
		writeTOML(b, m.Value)
		b.WriteString(d.newline)
	}
	return b.Bytes(), nil
}

var bareKey = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

func tomlKey(name string) string {
	if bareKey.MatchString(name) {
		return name
	}
	return tomlString(name)
}

// tomlString quotes a text. TOML has the escapes of JSON; DEL needs one too.
func tomlString(s string) string {
	raw, _ := json.Marshal(s) // a string is always encoded
	return strings.ReplaceAll(string(raw), "\x7f", `\u007F`)
}

// writeTOML writes a value on one line.
func writeTOML(b *bytes.Buffer, v hujson.Value) {
	switch v := v.Value.(type) {
	case *hujson.Object:
		b.WriteString("{")
		for i, m := range v.Members {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(" ")
			b.WriteString(tomlKey(m.Name.Value.(hujson.Literal).String()) + " = ")
			writeTOML(b, m.Value)
		}
		b.WriteString(" }")
	case *hujson.Array:
		b.WriteString("[")
		for i, e := range v.Elements {
			if i > 0 {
				b.WriteString(", ")
			}
			writeTOML(b, e)
		}
		b.WriteString("]")
	case hujson.Literal:
		if v.Kind() == '"' {
			b.WriteString(tomlString(v.String()))
			return
		}
		b.Write(v)
	}
}
