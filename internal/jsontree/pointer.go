package jsontree

import (
	"net/url"
	"strconv"
	"strings"
)

// EscapePointer makes a name one token of a JSON pointer (RFC 6901).
func EscapePointer(name string) string {
	if !strings.ContainsAny(name, "~/") {
		return name
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// UnescapePointer returns the name that a token of a JSON pointer stands for.
func UnescapePointer(token string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
}

// Pointer makes a JSON pointer of names and indexes.
func Pointer(path []string) string {
	var b strings.Builder
	for _, token := range path {
		b.WriteString("/" + EscapePointer(token))
	}
	return b.String()
}

// At returns the value that a JSON pointer names, nil if there is none.
func (v *Value) At(pointer string) *Value {
	if pointer == "" {
		return v
	}
	if pointer[0] != '/' {
		return nil
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		if v = v.child(UnescapePointer(token)); v == nil {
			return nil
		}
	}
	return v
}

// child returns the member or item that a token of a JSON pointer names, nil if
// there is none.
func (v *Value) child(token string) *Value {
	if v.Kind != KindArray {
		return v.Get(token)
	}
	if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(v.Kids) {
		return v.Kids[i]
	}
	return nil
}

// LocalRef returns the JSON pointer in a reference such as #/$defs/a, and
// whether it is one.
func LocalRef(ref string) (pointer string, ok bool) {
	fragment, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return "", false
	}
	pointer, err := url.PathUnescape(fragment)
	return pointer, err == nil && (pointer == "" || pointer[0] == '/')
}
