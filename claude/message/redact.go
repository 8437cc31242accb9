package message

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxLogged       = 500 // bytes of a message in a log
	maxLoggedString = 100 // bytes of one string in it
	secret          = `"[secret]"`
)

var (
	secretMember = regexp.MustCompile(`(?i)token$|secret|passw|passphrase|authori[sz]ation|api[-_]?key|private[-_]?key|credential|cookie`)
	secretValue  = regexp.MustCompile(`(?i)\bsk-[\w-]{8,}|\b(bearer|basic)\s+[\w.~+/=-]{8,}|\beyJ[\w-]{8,}\.[\w.-]+|\bgh[a-z]_\w{20,}|://[^/\s"@]*:[^/\s"@]*@`)
)

// redacted returns the beginning of a JSON value for a log: without the values
// of members that are named like a secret, and without texts that look like one.
func redacted(raw []byte) string {
	var b strings.Builder
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for hide, err := false, error(nil); err == nil && b.Len() < maxLogged; {
		hide, err = writeNext(&b, d, hide)
	}
	if b.Len() >= maxLogged {
		return strings.ToValidUTF8(b.String()[:maxLogged], "") + "…"
	}
	return b.String()
}

// writeNext writes the next token, or what stands for a secret if it is one. It
// reports whether the token names a secret.
func writeNext(b *strings.Builder, d *jsontext.Decoder, isSecret bool) (namesSecret bool, err error) {
	kind, isName, separator := d.PeekKind(), nextIsName(d), nextSeparator(d)
	if isSecret && (kind == '"' || kind == '{' || kind == '[') {
		b.WriteString(separator + secret)
		return false, d.SkipValue()
	}
	if kind == '"' {
		v, err := d.ReadValue() // no copy, as a token of a long string would be
		if err != nil {
			return false, err
		}
		text := beginning(v)
		b.WriteString(separator)
		writeString(b, text)
		return isName && secretMember.MatchString(text), nil
	}
	t, err := d.ReadToken()
	if err == nil {
		b.WriteString(separator + t.String())
	}
	return false, err
}

// nextIsName reports whether the next token is the name of a member.
func nextIsName(d *jsontext.Decoder) bool {
	kind, n := d.StackIndex(d.StackDepth())
	return kind == '{' && n%2 == 0 && d.PeekKind() == '"'
}

// nextSeparator returns what JSON has before the next token.
func nextSeparator(d *jsontext.Decoder) string {
	kind, n := d.StackIndex(d.StackDepth())
	next := d.PeekKind()
	switch {
	case kind == '{' && n%2 == 1:
		return ":"
	case n > 0 && (kind == '{' || kind == '[') && next != '}' && next != ']':
		return ","
	}
	return ""
}

// beginning returns the beginning of a JSON string.
func beginning(v jsontext.Value) string {
	const most = 4 * maxLoggedString
	if len(v) <= most {
		text, _ := jsontext.AppendUnquote(nil, v) // what is invalid in it is replaced
		return string(text)
	}
	return strings.ToValidUTF8(string(v[1:most]), "")
}

func writeString(b *strings.Builder, text string) {
	text = secretValue.ReplaceAllString(text, "[secret]")
	if len(text) > maxLoggedString {
		text = strings.ToValidUTF8(text[:maxLoggedString], "") + "…"
	}
	quoted, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(text, "\uFFFD"))
	if err != nil {
		quoted = []byte(`"…"`)
	}
	b.Write(quoted)
}
