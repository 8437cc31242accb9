package edit

import (
	"bytes"
	"encoding/json"
	"strings"
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
	start := 0
	if bytes.HasPrefix(text, byteOrderMark) {
		start = len(byteOrderMark)
	}
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

// lineEnd returns the offset after the line that contains i.
func lineEnd(text []byte, i int) int {
	if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(text)
}

// valueEnd returns the offset after the lines of a key and its value.
func valueEnd(text []byte, i int) int {
	depth := 0
	for i < len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\'':
			i = stringEnd(text, i)
			continue
		case c == '#':
			i = lineEnd(text, i) - 1
			if text[i] != '\n' {
				return len(text)
			}
			continue
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == '\n' && depth <= 0:
			return i + 1
		}
		i++
	}
	return len(text)
}

// stringEnd returns the offset after the string that begins at i.
func stringEnd(text []byte, i int) int {
	quote := text[i : i+1]
	long := bytes.Repeat(quote, 3)
	if bytes.HasPrefix(text[i:], long) {
		quote, i = long, i+2
	}
	for i++; i < len(text); i++ {
		if text[i] == '\\' && quote[0] == '"' {
			i++
			continue
		}
		if !bytes.HasPrefix(text[i:], quote) {
			continue
		}
		i += len(quote)
		for n := 0; n < 2 && len(quote) == 3 && i < len(text) && text[i] == quote[0]; n++ {
			i++ // up to two quotes may stand before the closing ones
		}
		return i
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
		end := stringEnd([]byte(line), 0)
		name := line[1:max(1, end-1)]
		if line[0] == '"' {
			_ = json.Unmarshal([]byte(line[:end]), &name) // an escape that JSON does not have stays as it is
		}
		key, line = append(key, name), line[end:]
	}
}
