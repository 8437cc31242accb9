package configfile

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/configedit"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/secret"
)

const notShown = "(not shown)"

// Show writes the difference of two contents of a file, nil for none, to a page.
// Values that are probably secrets are left out, also those of lines that do not
// change.
func Show(p *terminal.Page, file string, before, after []byte) {
	names := [2]string{file, file}
	if before == nil {
		names[0] = "(no file)"
	}
	if after == nil {
		names[1] = "(no file)"
	}
	p.WriteString(p.Paint("1", "--- "+cleartext.Printable(names[0])) + "\n" + p.Paint("1", "+++ "+cleartext.Printable(names[1])) + "\n")
	wide := p.Wide
	p.Wide = false
	p.Diff(Lines(file, before, file, after))
	p.Wide = wide
}

// Lines returns the lines of two files, without values that are probably secrets.
func Lines(fileBefore string, before []byte, fileAfter string, after []byte) []terminal.Line {
	return terminal.Diff(lines(Redacted(fileBefore, before)), lines(Redacted(fileAfter, after)))
}

func lines(data []byte) []string {
	text := strings.TrimSuffix(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// Redacted returns the content of a file without the values that are probably
// secrets.
func Redacted(file string, data []byte) []byte {
	d, err := Open(file, data)
	switch {
	case err != nil || len(data) == 0:
		return nil // only what was parsed is shown
	case configedit.IsTOML(file):
		return redactTOML(data)
	}
	return redactJSON(d.Bytes())
}

func redactTOML(data []byte) []byte {
	values, err := configedit.DecodeTOML(data)
	if err != nil {
		return nil
	}
	var hidden []string
	collect(values, "", &hidden)
	return []byte(secret.Replacer(notShown, hidden...).Replace(string(data)))
}

func redactJSON(data []byte) []byte {
	text := bytes.TrimPrefix(data, []byte("\ufeff"))
	root, err := hujson.Parse(text)
	if err != nil {
		return nil
	}
	hideIn(&root, "")
	return slices.Concat(data[:len(data)-len(text)], root.Pack())
}

// hideIn replaces the secrets in a value that has a name.
func hideIn(v *hujson.Value, name string) {
	switch part := v.Value.(type) {
	case *hujson.Object:
		for i := range part.Members {
			hideIn(&part.Members[i].Value, part.Members[i].Name.Value.(hujson.Literal).String())
		}
	case *hujson.Array:
		var texts []string
		for i := range part.Elements {
			if l, ok := part.Elements[i].Value.(hujson.Literal); ok {
				texts = append(texts, l.String())
			}
		}
		hidden := secret.InArgs(texts)
		for i := range part.Elements {
			hideIn(&part.Elements[i], "")
			part.Elements[i].Value = hide(part.Elements[i].Value, hidden)
		}
	case hujson.Literal:
		if part.Kind() == '"' {
			v.Value = hide(part, secretsOf(name, part.String()))
		}
	}
}

// hide returns a literal without the secrets in it.
func hide(v hujson.ValueTrimmed, hidden []string) hujson.ValueTrimmed {
	l, ok := v.(hujson.Literal)
	if !ok || l.Kind() != '"' {
		return v
	}
	text := l.String()
	for _, s := range hidden {
		if s != "" {
			text = strings.ReplaceAll(text, s, notShown)
		}
	}
	if text == l.String() {
		return v
	}
	return hujson.String(text)
}

// secretsOf returns what of a named value is not shown.
func secretsOf(name, value string) []string {
	switch {
	case strings.Contains(value, "${"), strings.HasPrefix(value, "$"):
		return nil // names a variable
	case strings.Contains(value, "://"):
		return secret.InURL(value)
	case secret.Is(name, value):
		return []string{value}
	}
	return nil
}

// collect appends the secrets of a value of TOML that has a name.
func collect(v any, name string, hidden *[]string) {
	switch v := v.(type) {
	case map[string]any:
		for name, v := range v {
			collect(v, name, hidden)
		}
	case []map[string]any:
		for _, v := range v {
			collect(v, name, hidden)
		}
	case []any:
		var texts []string
		for _, e := range v {
			if s, ok := e.(string); ok {
				texts = append(texts, s)
			}
			collect(e, "", hidden)
		}
		*hidden = append(*hidden, secret.InArgs(texts)...)
	case string:
		*hidden = append(*hidden, secretsOf(name, v)...)
	}
}

// Equal reports whether two contents of a file are the same, nil meaning none.
func Equal(a, b []byte) bool { return (a == nil) == (b == nil) && bytes.Equal(a, b) }
