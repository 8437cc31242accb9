package message

import (
	"bytes"
	"math"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxLogged       = 500 // bytes of a message in a log
	maxLoggedString = 100 // bytes of one string in it
	maxName         = 200 // bytes of a name or a value in a log
	mark            = `"[secret]"`
)

var (
	secretMember = regexp.MustCompile(`(?i)token$|access[-_]?tokens$|secret|passw|^pwd$|passphrase|^account$|authori[sz]ation|(api|private|access|session)[-_]?key|credential|cookie`)
	secretValue  = regexp.MustCompile(`(?i)\bsk-[\w-]{8,}|\b(bearer|basic)\s+[\w.~+/=-]{8,}|\beyJ[\w-]{8,}\.[\w.-]+|\b(gh[a-z]|github_pat)_\w{20,}|\bglpat-[\w-]{10,}|\bxox[a-z]-[\w-]{8,}|\bAKIA[0-9A-Z]{12,}|\bAIza[\w-]{20,}` +
		`|://[^/\s"@]*:[^/\s"@]*@` +
		`|\b\w*(passw(or)?d|secret|token|api_?key)=[^\s"'&]+` +
		`|"[\w-]*(passw(or)?d|secret|api[-_]?key|private[-_]?key|access[-_]?token)"\s*:\s*"[^"]*"` + // JSON in a text
		`|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*`)
)

// Redact returns a JSON value without the values of members that are named like a
// secret, and without texts that look like one. Objects stay objects, and so on. It does
// not find a secret that is spread over several messages.
func Redact(raw []byte) []byte { return []byte(redact(raw, math.MaxInt, math.MaxInt)) }

// redacted returns the beginning of a redacted JSON value, for a log.
func redacted(raw []byte) string { return shorten(redact(raw, maxLogged, maxLoggedString), maxLogged) }

// redact stops after most bytes, and shortens strings to mostString.
func redact(raw []byte, most, mostString int) string {
	var b strings.Builder
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for hide, err := false, error(nil); err == nil && b.Len() < most; {
		hide, err = writeNext(&b, d, hide, mostString)
	}
	return b.String()
}

// writeNext writes the next token, or what stands for a secret if it is one. It
// reports whether the token names a secret.
func writeNext(b *strings.Builder, d *jsontext.Decoder, isSecret bool, mostString int) (namesSecret bool, err error) {
	kind, isName, separator := d.PeekKind(), nextIsName(d), nextSeparator(d)
	if masked := map[jsontext.Kind]string{'"': mark, '0': "0", '{': "{" + mark + ":null}", '[': "[" + mark + "]"}[kind]; isSecret && masked != "" {
		b.WriteString(separator + masked)
		return false, d.SkipValue()
	}
	if kind == '"' {
		v, err := d.ReadValue() // no copy, as a token of a long string would be
		if err != nil {
			return false, err
		}
		text := beginning(v, mostString)
		b.WriteString(separator)
		writeString(b, text, mostString)
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

// beginning returns more than the first most bytes of a JSON string.
func beginning(v jsontext.Value, most int) string {
	if len(v)/4 <= most { // an escape has up to six bytes
		text, _ := jsontext.AppendUnquote(nil, v) // what is invalid in it is replaced
		return string(text)
	}
	return strings.ToValidUTF8(string(v[1:4*most]), "")
}

func writeString(b *strings.Builder, text string, most int) {
	text = shorten(secretValue.ReplaceAllString(text, "[secret]"), most)
	quoted, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(text, "\uFFFD"))
	if err != nil {
		quoted = []byte(`"…"`)
	}
	b.Write(quoted)
}
