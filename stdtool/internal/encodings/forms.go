package encodings

import (
	"bytes"
	"maps"
)

// maxForm is the length of the longest character in an encoding, in bytes.
const maxForm = 4

// withForms returns e with the bytes that content has for the characters of text, nil if
// it has several for one character. Shift_JIS as Windows writes it has others than the
// table for many characters of names.
func (e *Encoding) withForms(content, text []byte) *Encoding {
	if e.Name == stateful {
		return nil
	}
	usual, used := map[rune]string{}, map[rune]string{}
	for _, r := range string(text) {
		form, known := usual[r]
		if !known {
			form, _ = e.table.NewEncoder().String(string(r))
			usual[r] = form
		}
		if form == "" || !bytes.HasPrefix(content, []byte(form)) {
			form = e.form(content, r)
		}
		if before := used[r]; form == "" || before != "" && before != form {
			return nil
		}
		used[r] = form
		content = content[len(form):]
	}
	maps.DeleteFunc(used, func(r rune, form string) bool { return form == usual[r] })
	return &Encoding{Name: e.Name, table: e.table, forms: used}
}

// form returns the bytes at the beginning of content that are the character r.
func (e *Encoding) form(content []byte, r rune) string {
	for n := 1; n <= min(maxForm, len(content)); n++ {
		if text, err := e.table.NewDecoder().Bytes(content[:n]); err == nil && string(text) == string(r) {
			return string(content[:n])
		}
	}
	return ""
}
