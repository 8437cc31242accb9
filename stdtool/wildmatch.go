package stdtool

import "strings"

// A wildcard is a pattern of .gitignore, as git's wildmatch takes it: bytes, in
// time that grows with the length of the pattern times that of the name.
type wildcard []element

// An element matches one byte, any number of them, or none.
type element struct {
	kind elementKind
	set  *[256]bool // of oneOf
}

type elementKind int

const (
	oneOf   elementKind = iota
	anyName             // any number of bytes but /
	anyPath             // any number of bytes
	perhaps             // the next two, any folders, may be left out
)

func compileWildcard(s string) wildcard {
	var w wildcard
	for i := 0; i < len(s); {
		var e element
		size := 1
		switch s[i] {
		case '*':
			if e, size = star(s, i); e.kind == anyPath && i+size < len(s) && s[i+size] == '/' {
				w = append(w, element{kind: perhaps})
			}
		case '?':
			e.set = &[256]bool{'/': true}
			negate(e.set)
		case '[':
			e.set, size = bracket(s[i:])
		default:
			b, n := escaped(s[i:])
			e.set, size = new([256]bool), n
			if b >= 0 {
				e.set[b] = true
			}
		}
		w, i = append(w, e), i+size
	}
	return w
}

// star reads the stars at s[i]: two of them, with slashes around, are any folders.
func star(s string, i int) (element, int) {
	rest := strings.TrimLeft(s[i:], "*")
	n := len(s) - i - len(rest)
	if n > 1 && (i == 0 || s[i-1] == '/') && (rest == "" || rest[0] == '/' || strings.HasPrefix(rest, `\/`)) {
		return element{kind: anyPath}, n
	}
	return element{kind: anyName}, n
}

func negate(set *[256]bool) {
	for b := range set {
		set[b] = !set[b]
	}
}

// bracket reads a set such as [!a-z[:digit:]]. One that does not end, or has an
// unknown class, matches nothing.
func bracket(s string) (set *[256]bool, size int) {
	set = new([256]bool)
	rest := s[1:]
	negated := rest != "" && (rest[0] == '!' || rest[0] == '^')
	if negated {
		rest = rest[1:]
	}
	last := -1 // the byte that a range may begin with
	for first := true; first || !strings.HasPrefix(rest, "]"); first = false {
		n := 0
		if rest != "" {
			n, last = member(set, rest, last)
		}
		if n == 0 {
			return new([256]bool), len(s)
		}
		rest = rest[n:]
	}
	if negated {
		negate(set)
	}
	set['/'] = false
	return set, len(s) - len(rest) + 1
}

// member adds the next byte, range or class of a set. The size is 0 if there is none.
func member(set *[256]bool, s string, last int) (size, next int) {
	if s[0] == '-' && last > 0 && len(s) > 1 && s[1] != ']' {
		to, n := escaped(s[1:])
		if to < 0 {
			return 0, -1
		}
		addRange(set, last, to)
		return n + 1, -1
	}
	if strings.HasPrefix(s, "[:") {
		name, _, ok := strings.Cut(s[2:], "]")
		if !ok {
			return 0, -1
		}
		if name, ok = strings.CutSuffix(name, ":"); ok {
			return addClass(set, name), -1
		}
	}
	b, n := escaped(s)
	if b < 0 {
		return 0, -1
	}
	set[b] = true
	return n, b
}

func addRange(set *[256]bool, from, to int) {
	for b := from; b <= to; b++ {
		set[b] = true
	}
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

// addClass adds [:name:], and returns its size, 0 if it is not known.
func addClass(set *[256]bool, name string) int {
	ranges, ok := classes[name]
	if !ok {
		return 0
	}
	for ; ranges != ""; ranges = ranges[2:] {
		addRange(set, int(ranges[0]), int(ranges[1]))
	}
	return len("[::]") + len(name)
}

// escaped reads a byte, -1 if there is none behind the backslash.
func escaped(s string) (b, size int) {
	switch {
	case s[0] != '\\':
		return int(s[0]), 1
	case len(s) == 1:
		return -1, 1
	}
	return int(s[1]), 2
}

// match follows all ways through the pattern at once: at[i] says that the bytes
// so far can end before element i.
func (w wildcard) match(name string) bool {
	var few [64]bool
	at := few[:]
	if len(w) >= len(few) {
		at = make([]bool, len(w)+1)
	}
	at[0] = true
	w.skip(at)
	for i := range len(name) {
		b := name[i]
		at[len(w)] = false
		for k := len(w) - 1; k >= 0; k-- {
			here := at[k]
			switch e := w[k]; e.kind {
			case oneOf:
				at[k], at[k+1] = false, at[k+1] || here && e.set[b]
			case anyName:
				at[k] = here && b != '/'
			case perhaps:
				at[k] = false
			}
		}
		w.skip(at)
	}
	return at[len(w)]
}

// skip passes over elements that may match nothing.
func (w wildcard) skip(at []bool) {
	for k, e := range w {
		if at[k] && e.kind != oneOf {
			at[k+1] = true
			if e.kind == perhaps {
				at[k+3] = true
			}
		}
	}
}
