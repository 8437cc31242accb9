package schema

import (
	"net/url"
	"strconv"
	"strings"
)

// escapePointer makes a name one token of a JSON pointer (RFC 6901).
func escapePointer(name string) string {
	if !strings.ContainsAny(name, "~/") {
		return name
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

func unescapePointer(token string) string {
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
}

// joinPointer makes a JSON pointer of names and indexes.
func joinPointer(path []string) string {
	var b strings.Builder
	for _, token := range path {
		b.WriteString("/" + escapePointer(token))
	}
	return b.String()
}

// at returns the value that a JSON pointer names, nil if there is none.
func (v *value) at(pointer string) *value {
	if pointer == "" {
		return v
	}
	if pointer[0] != '/' {
		return nil
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		if v = v.child(unescapePointer(token)); v == nil {
			return nil
		}
	}
	return v
}

func (v *value) child(token string) *value {
	if v.kind != KindArray {
		return v.get(token)
	}
	if i, err := strconv.Atoi(token); err == nil && i >= 0 && i < len(v.kids) {
		return v.kids[i]
	}
	return nil
}

// localRef returns the JSON pointer in a reference such as #/$defs/a, and
// whether it is one.
func localRef(ref string) (pointer string, ok bool) {
	fragment, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return "", false
	}
	pointer, err := url.PathUnescape(fragment)
	return pointer, err == nil && (pointer == "" || pointer[0] == '/')
}
