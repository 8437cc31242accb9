package stdtool

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A wildcard is a pattern of a path, with the syntax of git's wildmatch. It is
// matched in time that grows with the length of the pattern times that of the
// path.
type wildcard struct {
	elements []element
	bytes    bool   // ? and sets stand for bytes, as in git, instead of characters
	suffix   string // what every name that matches ends with
}

// An element matches one character, any number of them, or none.
type element struct {
	kind elementKind
	char rune    // of literal
	set  charSet // of oneOf
}

type elementKind int

const (
	literal elementKind = iota
	oneOf
	anyName // any number of characters but /
	anyPath // any number of characters
	perhaps // the next two, any folders, may be left out
)

// A charSet holds pairs of characters, the first and the last of a range. A
// slash is in none.
type charSet struct {
	ranges  []rune
	negated bool
}

func (s *charSet) has(r rune) bool {
	for i := 0; i < len(s.ranges); i += 2 {
		if s.ranges[i] <= r && r <= s.ranges[i+1] {
			return r != '/' && !s.negated
		}
	}
	return r != '/' && s.negated
}

// decode returns the first character of s and its size. A byte that is not UTF-8
// becomes a character that nothing else becomes.
func (w *wildcard) decode(s string) (r rune, size int) {
	if w.bytes {
		return rune(s[0]), 1
	}
	if r, size = utf8.DecodeRuneInString(s); r == utf8.RuneError && size == 1 {
		r = unicode.MaxRune + 1 + rune(s[0])
	}
	return r, size
}

// newWildcard compiles s. If it is malformed, what is wrong in it matches
// nothing, as in git, and ok is false.
func newWildcard(s string, bytes bool) (w wildcard, ok bool) {
	w.bytes, ok = bytes, true
	var chars []rune
	for rest := s; rest != ""; {
		r, size := w.decode(rest)
		chars, rest = append(chars, r), rest[size:]
	}
	for i := 0; i < len(chars); {
		var e element
		size, valid := 1, true
		switch chars[i] {
		case '*':
			if e.kind, size = star(chars, i); e.kind == anyPath && i+size < len(chars) && chars[i+size] == '/' {
				w.elements = append(w.elements, element{kind: perhaps})
			}
		case '?':
			e = element{kind: oneOf, set: charSet{negated: true}}
		case '[':
			e.kind = oneOf
			e.set, size, valid = bracket(chars[i:])
		default:
			e.char, size = readEscaped(chars[i:])
			valid = e.char >= 0
		}
		ok = ok && valid
		w.elements, i = append(w.elements, e), i+size
	}
	w.suffix = s[strings.LastIndexAny(s, `*?]\/`)+1:]
	return w, ok
}

// star reads the stars at s[i]: two of them, with slashes around, are any folders.
func star(s []rune, i int) (kind elementKind, size int) {
	for i+size < len(s) && s[i+size] == '*' {
		size++
	}
	rest := s[i+size:]
	ends := len(rest) == 0 || rest[0] == '/' || len(rest) > 1 && rest[0] == '\\' && rest[1] == '/'
	if size > 1 && (i == 0 || s[i-1] == '/') && ends {
		return anyPath, size
	}
	return anyName, size
}

// bracket reads a set such as [!a-z[:digit:]]. One that does not end, or has an
// unknown class, matches nothing.
func bracket(s []rune) (all charSet, size int, ok bool) {
	at := 1
	if at < len(s) && (s[at] == '!' || s[at] == '^') {
		all.negated = true
		at++
	}
	ok = true
	for first := at; at < len(s) && (at == first || s[at] != ']'); {
		n, valid := all.addMember(s[at:])
		if n == 0 {
			return charSet{}, len(s), false
		}
		at, ok = at+n, ok && valid
	}
	if at >= len(s) {
		return charSet{}, len(s), false
	}
	return all, at + 1, ok
}

// addMember adds the class, range or character that text begins with, and
// returns its size, 0 if there is none. A range that ends before it begins is not
// valid, and holds nothing.
func (s *charSet) addMember(text []rune) (size int, valid bool) {
	if name, ok := className(text); ok {
		ranges, known := classes[name]
		if !known {
			return 0, false
		}
		s.ranges = append(s.ranges, []rune(ranges)...)
		return len("[::]") + len(name), true
	}
	from, size := readEscaped(text)
	to := from
	if rest := text[size:]; len(rest) > 1 && rest[0] == '-' && rest[1] != ']' {
		var n int
		to, n = readEscaped(rest[1:])
		size += 1 + n
	}
	if from < 0 || to < 0 {
		return 0, false
	}
	s.ranges = append(s.ranges, from, to)
	return size, from <= to
}

// className returns the name of the class that s begins with, such as [:digit:].
func className(s []rune) (name string, ok bool) {
	const longest = 64 // of a name that is looked for, known or not
	if len(s) < 2 || s[0] != '[' || s[1] != ':' {
		return "", false
	}
	end := slices.Index(s[2:min(len(s), longest)], ']')
	if end < 0 {
		return "", false
	}
	return strings.CutSuffix(string(s[2:2+end]), ":")
}

// classes are pairs of bytes, the first and the last of a range.
var classes = map[string]string{
	"alnum":  "09AZaz",
	"alpha":  "AZaz",
	"blank":  "\t\t  ",
	"cntrl":  "\x00\x1F\x7F\x7F",
	"digit":  "09",
	"graph":  "!~",
	"lower":  "az",
	"print":  " ~",
	"punct":  "!/:@[`{~",
	"space":  "\t\r  ",
	"upper":  "AZ",
	"xdigit": "09AFaf",
}

// readEscaped reads a character, -1 if there is none behind the backslash.
func readEscaped(s []rune) (r rune, size int) {
	switch {
	case s[0] != '\\':
		return s[0], 1
	case len(s) == 1:
		return -1, 1
	}
	return s[1], 2
}

// match reports whether the wildcard matches name, and, if that is a folder, whether
// it could match something inside name. It follows all ways through the elements at once: at[i]
// is set if the characters so far can end before element i.
func (w *wildcard) match(name string, folder bool) (full, inside bool) {
	if !folder && !strings.HasSuffix(name, w.suffix) {
		return false, false
	}
	var few [64]bool
	at := few[:]
	if len(w.elements) >= len(few) {
		at = make([]bool, len(w.elements)+1)
	}
	at[0] = true
	w.skip(at)
	for rest := name; rest != ""; {
		r, size := w.decode(rest)
		w.step(at, r)
		rest = rest[size:]
	}
	full = at[len(w.elements)]
	if folder {
		w.step(at, '/')
		inside = slices.Contains(at, true)
	}
	return full, inside
}

// step reads one character.
func (w *wildcard) step(at []bool, r rune) {
	at[len(w.elements)] = false
	for k := len(w.elements) - 1; k >= 0; k-- {
		here := at[k]
		switch e := &w.elements[k]; e.kind {
		case literal:
			at[k], at[k+1] = false, at[k+1] || here && e.char == r
		case oneOf:
			at[k], at[k+1] = false, at[k+1] || here && e.set.has(r)
		case anyName:
			at[k] = here && r != '/'
		case perhaps:
			at[k] = false
		}
	}
	w.skip(at)
}

// skip passes over elements that may match nothing.
func (w *wildcard) skip(at []bool) {
	for k := range w.elements {
		if kind := w.elements[k].kind; at[k] && kind >= anyName {
			at[k+1] = true
			if kind == perhaps {
				at[k+3] = true
			}
		}
	}
}
