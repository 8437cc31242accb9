// Package nesting finds configuration files that are nested too deep for parsers that recurse.
package nesting

import "bytes"

// MaxDepth is how many levels a file may have.
const MaxDepth = 500

// TooDeep returns the offset at which the brackets of data are nested more than
// [MaxDepth] levels deep, or -1. Skip knows the syntax: [SkipJSON] or [SkipTOML]. Text
// after a syntax error does not matter: the parser stops there.
func TooDeep(data []byte, skip func(data []byte, i int) int) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		if end := skip(data, i); end > i {
			i = end - 1
			continue
		}
		switch data[i] {
		case '{', '[':
			if depth++; depth > MaxDepth {
				return i
			}
		case '}', ']':
			depth--
		}
	}
	return -1
}

// SkipJSON returns the offset after the string or comment of JSON with comments that begins
// at an offset, or the offset if none does.
func SkipJSON(data []byte, i int) int {
	switch rest := data[i:]; {
	case rest[0] == '"':
		return stringEnd(data, i, false)
	case bytes.HasPrefix(rest, []byte("//")):
		return lineEnd(data, i)
	case bytes.HasPrefix(rest, []byte("/*")):
		if n := bytes.Index(rest[2:], []byte("*/")); n >= 0 {
			return i + n + 4
		}
		return len(data)
	}
	return i
}

// SkipTOML returns the offset after the string or comment of TOML that begins at an offset,
// or the offset if none does.
func SkipTOML(data []byte, i int) int {
	switch data[i] {
	case '"', '\'':
		return stringEnd(data, i, true)
	case '#':
		return lineEnd(data, i)
	}
	return i
}

// lineEnd returns the offset after the line that contains i.
func lineEnd(text []byte, i int) int {
	if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(text)
}

// stringEnd returns the offset after the string that begins at i. If long is true,
// three quotes begin a string that three or more quotes end, as in TOML.
func stringEnd(text []byte, i int, long bool) int {
	quote := text[i : i+1]
	if three := bytes.Repeat(quote, 3); long && bytes.HasPrefix(text[i:], three) {
		quote, i = three, i+2
	}
	for i++; i < len(text); i++ {
		if text[i] == '\\' && quote[0] == '"' {
			i++
			continue
		}
		if !bytes.HasPrefix(text[i:], quote) {
			continue
		}
		for i += len(quote); len(quote) == 3 && i < len(text) && text[i] == quote[0]; {
			i++ // quotes may stand before the closing ones
		}
		return i
	}
	return len(text)
}
