package stdtool

import "strings"

// A wildcard is a pattern of .gitignore, as git's wildmatch takes it: bytes, in
// time that grows with the length of the pattern times that of the name.
type wildcard []element

// An element matches one byte, or any number of them.
type element struct {
	kind elementKind
	set  *[256]bool // of oneOf
	skip bool       // of anyPath: with the slash behind it, it may match nothing
}

type elementKind int

const (
	oneOf   elementKind = iota
	anyName             // any number of bytes but /
	anyPath             // any number of bytes
)

func compileWildcard(s string) wildcard {
	var w wildcard
	for i := 0; i < len(s); {
		switch s[i] {
		case '*':
			n := len(s[i:]) - len(strings.TrimLeft(s[i:], "*"))
			e := element{kind: anyName}
			rest := s[i+n:]
			slash := strings.HasPrefix(rest, "/")
			if n > 1 && (i == 0 || s[i-1] == '/') && (rest == "" || slash || strings.HasPrefix(rest, `\/`)) {
				e = element{kind: anyPath, skip: slash}
			}
			w, i = append(w, e), i+n
		case '?':
			set := new([256]bool)
			for b := range set {
				set[b] = b != '/'
			}
			w, i = append(w, element{set: set}), i+1
		case '[':
			set, n := bracket(s[i:])
			w, i = append(w, element{set: set}), i+n
		case '\\':
			set := new([256]bool)
			if i+1 < len(s) {
				set[s[i+1]] = true
			}
			w, i = append(w, element{set: set}), i+2
		default:
			set := new([256]bool)
			set[s[i]] = true
			w, i = append(w, element{set: set}), i+1
		}
	}
	return w
}

// bracket reads a set such as [!a-z[:digit:]]. One that does not end, or has an
// unknown class, matches nothing.
func bracket(s string) (set *[256]bool, size int) {
	set = new([256]bool)
	i := 1
	negated := i < len(s) && (s[i] == '!' || s[i] == '^')
	if negated {
		i++
	}
	last := -1 // the byte that a range may begin with
	for first := true; ; first = false {
		switch {
		case i >= len(s):
			return new([256]bool), len(s)
		case s[i] == ']' && !first:
			set['/'] = negated
			for b := range set {
				set[b] = set[b] != negated
			}
			return set, i + 1
		case s[i] == '-' && last > 0 && i+1 < len(s) && s[i+1] != ']':
			to, n := escaped(s[i+1:])
			for b := last; b <= to; b++ {
				set[b] = true
			}
			last, i = -1, i+1+n
		case strings.HasPrefix(s[i:], "[:"):
			name, n := class(s[i:])
			if n < 0 {
				return new([256]bool), len(s)
			}
			if n == 0 { // not a class
				set['['], last, i = true, '[', i+1
				continue
			}
			for b := range set {
				set[b] = set[b] || inClass(name, byte(b))
			}
			last, i = -1, i+n
		default:
			b, n := escaped(s[i:])
			if b >= 0 {
				set[b] = true
			}
			last, i = b, i+n
		}
	}
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

const classes = " alnum alpha blank cntrl digit graph lower print punct space upper xdigit "

// class reads [:name:]. The size is 0 if it is no class, -1 if it is not a known
// one or does not end.
func class(s string) (name string, size int) {
	end := strings.IndexByte(s[2:], ']')
	if end < 0 {
		return "", -1
	}
	name, ok := strings.CutSuffix(s[2:2+end], ":")
	switch {
	case !ok:
		return "", 0
	case name == "" || !strings.Contains(classes, " "+name+" "):
		return "", -1
	}
	return name, end + 3
}

func inClass(name string, b byte) bool {
	lower, upper, digit := 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9'
	graph := b > ' ' && b < 0x7F
	switch name {
	case "alnum":
		return lower || upper || digit
	case "alpha":
		return lower || upper
	case "blank":
		return b == ' ' || b == '\t'
	case "cntrl":
		return b < ' ' || b == 0x7F
	case "digit":
		return digit
	case "graph":
		return graph
	case "lower":
		return lower
	case "print":
		return graph || b == ' '
	}
	return inOtherClass(name, b, lower || upper || digit, graph)
}

func inOtherClass(name string, b byte, alnum, graph bool) bool {
	switch name {
	case "punct":
		return graph && !alnum
	case "space":
		return b == ' ' || b >= '\t' && b <= '\r'
	case "upper":
		return 'A' <= b && b <= 'Z'
	}
	return '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'f' // xdigit
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
			if e.skip {
				at[k+2] = true
			}
		}
	}
}
