package configedit

import "bytes"

// maxDepth bounds the nesting of a file, because the parsers recurse.
const maxDepth = 500

// TooDeep returns the offset at which the brackets of JSON with comments are nested
// more than max levels deep, or -1. Text after a syntax error does not matter: the
// parser stops there.
func TooDeep(data []byte, max int) int { return tooDeep(data, max, jsonSkip) }

// tooDeep is [TooDeep] for another syntax. Skip returns the offset after the string
// or comment that begins at an offset, or the offset if none does.
func tooDeep(data []byte, max int, skip func(data []byte, i int) int) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		if end := skip(data, i); end > i {
			i = end - 1
			continue
		}
		switch data[i] {
		case '{', '[':
			if depth++; depth > max {
				return i
			}
		case '}', ']':
			depth--
		}
	}
	return -1
}

// jsonSkip skips a string or comment of JSON with comments.
func jsonSkip(data []byte, i int) int {
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
