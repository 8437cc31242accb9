package lint

import (
	"encoding/json"
	"strconv"
	"strings"
)

// A jsonPart is a member of an object or an item of an array, and where it is.
type jsonPart struct {
	name       string // of a member; the number of an item
	at         int    // where its name begins, or if it has none the value
	start, end int    // of the value
}

// jsonParts returns the parts of the object or array that raw begins with, none
// of other values. JSON may be nested to any depth; of anything else than JSON
// the result means nothing.
func jsonParts(raw []byte) (parts []jsonPart) {
	i := skipSpace(raw, 0)
	if i == len(raw) || raw[i] != '{' && raw[i] != '[' {
		return nil
	}
	object := raw[i] == '{'
	for i = skipSpace(raw, i+1); i < len(raw) && raw[i] != '}' && raw[i] != ']'; i = skipSpace(raw, i) {
		p := jsonPart{name: strconv.Itoa(len(parts)), at: i}
		if object {
			end := skipValue(raw, i)
			p.name, i = unquote(raw[i:end]), skipSpace(raw, end)
		}
		p.start, p.end = i, skipValue(raw, i)
		parts, i = append(parts, p), max(p.end, p.at+1)
	}
	return parts
}

// skipSpace returns where the next token begins; commas and colons are none.
func skipSpace(raw []byte, i int) int {
	for i < len(raw) && strings.IndexByte(" \t\r\n,:", raw[i]) >= 0 {
		i++
	}
	return i
}

// skipValue returns where the value ends that begins at i.
func skipValue(raw []byte, i int) int {
	switch {
	case i < len(raw) && raw[i] == '"':
		return skipText(raw, i)
	case i < len(raw) && (raw[i] == '{' || raw[i] == '['):
		return skipNested(raw, i)
	}
	for i < len(raw) && strings.IndexByte(" \t\r\n,:}]", raw[i]) < 0 {
		i++
	}
	return i
}

func skipText(raw []byte, i int) int {
	for i++; i < len(raw) && raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return min(i+1, len(raw))
}

func skipNested(raw []byte, i int) int {
	for depth := 0; i < len(raw); {
		switch raw[i] {
		case '"':
			i = skipText(raw, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if i++; depth == 0 {
			return i
		}
	}
	return len(raw)
}

func unquote(raw []byte) string {
	var s string
	_ = json.Unmarshal(raw, &s) // a value that is not a string has no text
	return s
}

// A jsonDoc is JSON in which many places are looked up.
type jsonDoc struct {
	raw   []byte
	parts map[int]map[string]jsonPart // of the object or array that begins there
}

func newJSONDoc(raw []byte) *jsonDoc { return &jsonDoc{raw, map[int]map[string]jsonPart{}} }

// find returns what a JSON pointer leads to. If there is none, ok is false and
// the part is the nearest around it.
func (d *jsonDoc) find(pointer string) (found jsonPart, ok bool) {
	start := skipSpace(d.raw, 0)
	found = jsonPart{at: start, start: start, end: len(d.raw)}
	if pointer == "" {
		return found, true
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		next, there := d.inside(found, unescape.Replace(token))
		if !there {
			return found, false
		}
		found = next
	}
	return found, true
}

// inside returns the part of p that has that name; of several the last one.
func (d *jsonDoc) inside(p jsonPart, name string) (found jsonPart, ok bool) {
	parts := d.parts[p.start]
	if parts == nil {
		parts = map[string]jsonPart{}
		for _, inner := range jsonParts(d.raw[p.start:p.end]) {
			parts[inner.name] = jsonPart{inner.name, inner.at + p.start, inner.start + p.start, inner.end + p.start}
		}
		d.parts[p.start] = parts
	}
	found, ok = parts[name]
	return found, ok
}
