package tomledit

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/toolpost/toolpost/internal/nesting"
)

// A statement is the header of a table, or a key with its value, with the lines
// on which it stands.
type statement struct {
	key        []string // of a header; nil for a key with a value
	start, end int
}

// statements returns the statements of a text, which is valid TOML.
func statements(text []byte) []statement {
	var all []statement
	start := len(text) - len(bytes.TrimPrefix(text, []byte("\ufeff"))) // after the byte order mark
	for start < len(text) {
		i := start
		for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
			i++
		}
		end := lineEnd(text, i)
		if i == len(text) {
			break
		}
		switch text[i] {
		case '\r', '\n', '#':
		case '[':
			all = append(all, statement{keyOf(string(text[i:end])), start, end})
		default:
			end = valueEnd(text, i)
			all = append(all, statement{nil, start, end})
		}
		start = end
	}
	return all
}

// valueEnd returns the offset after the lines of a key and its value.
func valueEnd(text []byte, i int) int {
	for depth := 0; i < len(text); i++ {
		if end := nesting.SkipTOML(text, i); end > i {
			if i = end - 1; text[i] != '\n' { // the line ends a comment, too
				continue
			}
		}
		switch c := text[i]; {
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == '\n' && depth <= 0:
			return i + 1
		}
	}
	return len(text)
}

// keyOf returns the names in the header of a table, or before the value of a key.
func keyOf(line string) []string {
	line = strings.TrimLeft(line, "[")
	key := []string{}
	for {
		line = strings.TrimLeft(line, " \t.")
		if line == "" || line[0] == ']' || line[0] == '=' {
			return key
		}
		if line[0] != '"' && line[0] != '\'' {
			end := strings.IndexAny(line, " \t.]=")
			if end < 0 {
				return key
			}
			key, line = append(key, line[:end]), line[end:]
			continue
		}
		end := nesting.SkipTOML([]byte(line), 0)
		name := line[1:max(1, end-1)]
		if line[0] == '"' {
			_ = json.Unmarshal([]byte(line[:end]), &name) // an escape that JSON does not have stays as it is
		}
		key, line = append(key, name), line[end:]
	}
}

// lineEnd returns the offset after the line that contains i.
func lineEnd(text []byte, i int) int {
	if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(text)
}
