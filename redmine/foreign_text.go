package redmine

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
	"unicode"
)

// Users of Redmine write every name and text that it returns. Two rules keep a text
// from passing for something that the tools say:
//
//   - A text is one line, unless its field is a [longText].
//   - A text of several lines stands between tags that it does not contain.

// oneLine replaces line ends by ⏎ and other control characters, also those that
// reorder text, by �.
func oneLine(text string) string {
	if !strings.ContainsFunc(text, unsafeInLine) {
		return text
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case !unsafeInLine(r):
			return r
		case strings.ContainsRune("\n\v\f\u0085\u2028\u2029", r):
			return '⏎'
		}
		return '�'
	}, strings.ReplaceAll(normalizeNewlines(text), "\r", "\n"))
}

func unsafeInLine(r rune) bool {
	return unicode.IsControl(r) || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 ||
		r == '\u2028' || r == '\u2029' || r >= 0xe0000 && r <= 0xe007f
}

// oneLines applies [oneLine] to every string in v, a pointer to what was decoded.
func oneLines(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			oneLines(v.Elem())
		}
	case reflect.Slice:
		if kind := v.Type().Elem().Kind(); kind == reflect.Uint8 || kind == reflect.Int {
			return // raw JSON, which is decoded later, or ids
		}
		for i := range v.Len() {
			oneLines(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			oneLines(v.Field(i)) // which can be set if it is exported
		}
	case reflect.String:
		if v.CanSet() && v.Type() != reflect.TypeFor[longText]() {
			v.SetString(oneLine(v.String()))
		}
	}
}

// hashOf identifies a text as it is shown. An edit that gives it is refused if the
// text has changed.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(strings.ReplaceAll(normalizeNewlines(text), "\r", "\n")))
	return hex.EncodeToString(sum[:4])
}

// quoteText puts a text between tags that it does not contain, so that it cannot end
// them and go on as if the tools said the rest.
func quoteText(text string) string {
	text = normalizeNewlines(text)
	tag := "text-" + hashOf(text)
	for strings.Contains(text, tag) {
		tag = "text-" + hashOf(tag+text)
	}
	return fmt.Sprintf("<%s>\n%s\n</%s>", tag, text, tag)
}

// quoteMultiline returns the text of a custom field after its label: quoted if
// it has lines.
func quoteMultiline(text string) string {
	if strings.ContainsFunc(text, unsafeInLine) {
		return "\n" + quoteText(text)
	}
	return text
}

// normalizeNewlines returns a text with LF in place of CR LF.
func normalizeNewlines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }
