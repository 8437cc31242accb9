package ecmaregexp

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CheckUnicode returns why source is not a regular expression of ECMA 262
// with the flag u, nil if it is one. JavaScript validators compile patterns with
// this flag. Syntax that only some engines of today support is refused.
func CheckUnicode(source string) error {
	if len(source) > maxPattern {
		return fmt.Errorf("it is longer than %d bytes", maxPattern)
	}
	p := &ecmaParser{rest: source, names: map[string]bool{}}
	p.disjunction(0)
	switch {
	case p.err != nil:
		return p.err
	case p.rest != "":
		return errors.New("a ) has no group to close")
	case p.backref > p.groups:
		return fmt.Errorf(`\%d refers to a group that does not exist`, p.backref)
	}
	for _, name := range p.referred {
		if !p.names[name] {
			return fmt.Errorf(`\k<%s> refers to a group that does not exist`, name)
		}
	}
	return nil
}

// Limits on what a pattern of ECMA 262 may contain; engines have higher ones.
const (
	maxGroupDepth = 200
	maxGroups     = 5000
	maxDigits     = 9
)

// An ecmaParser reads a pattern. The methods stop at the first error.
type ecmaParser struct {
	rest     string
	groups   int
	names    map[string]bool // of groups
	backref  int             // the highest number in a backreference
	referred []string        // names in backreferences
	err      error
}

func (p *ecmaParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

// skip skips a prefix, if it is next.
func (p *ecmaParser) skip(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	p.rest = rest
	return ok
}

// next returns the next character and skips it; 0 at the end.
func (p *ecmaParser) next() rune {
	r, n := utf8.DecodeRuneInString(p.rest)
	if n == 0 {
		return 0
	}
	p.rest = p.rest[n:]
	return r
}

// disjunction reads alternatives, up to a ) or the end.
func (p *ecmaParser) disjunction(depth int) {
	if depth > maxGroupDepth {
		p.fail("its groups are nested more than %d levels deep", maxGroupDepth)
	}
	for p.err == nil && p.rest != "" && p.rest[0] != ')' {
		if p.rest[0] == '|' {
			p.rest = p.rest[1:]
			continue
		}
		if repeatable := p.term(depth); p.quantifier() && !repeatable {
			p.fail("a quantifier has nothing to repeat")
		}
	}
}

// term reads what may have a quantifier, and reports whether it may.
func (p *ecmaParser) term(depth int) bool {
	switch c := p.next(); c {
	case '^', '$':
		return false
	case '(':
		return p.group(depth)
	case '[':
		p.class()
	case '\\':
		if p.skip("b") || p.skip("B") {
			return false
		}
		p.atomEscape()
	case '*', '+', '?', '{':
		p.fail("%c has nothing to repeat", c)
	case '}', ']':
		p.fail(`%c is not escaped`, c)
	}
	return true
}

// quantifier skips a quantifier, and reports whether there is one.
func (p *ecmaParser) quantifier() bool {
	switch {
	case p.err != nil:
		return false
	case p.skip("*") || p.skip("+") || p.skip("?"):
	case p.skip("{"):
		low, high := p.digits(), ""
		if high = low; p.skip(",") {
			high = p.digits()
		}
		if low == "" || !p.skip("}") {
			p.fail("{ does not begin a count")
			return false
		}
		from, _ := strconv.Atoi(low)
		if to, _ := strconv.Atoi(high); high != "" && to < from {
			p.fail("{%s,%s} is out of order", low, high)
		}
	default:
		return false
	}
	p.skip("?")
	return true
}

func (p *ecmaParser) digits() string {
	n := 0
	for n < len(p.rest) && isDigit(p.rest[n]) {
		n++
	}
	if n > maxDigits {
		p.fail("a number has more than %d digits", maxDigits)
	}
	number := p.rest[:n]
	p.rest = p.rest[n:]
	return number
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// group reads a group whose ( was read, and reports whether it may be repeated.
func (p *ecmaParser) group(depth int) (repeatable bool) {
	repeatable = true
	switch {
	case p.skip("?:"):
	case p.skip("?=") || p.skip("?!") || p.skip("?<=") || p.skip("?<!"):
		repeatable = false
	case p.skip("?<"):
		name := p.groupName()
		if p.names[name] {
			p.fail("two groups are called %q", name)
		}
		p.names[name] = true
		p.groups++
	case p.skip("?"):
		p.fail("(?%.1s does not begin a group of ECMAScript", p.rest)
	default:
		p.groups++
	}
	if p.groups > maxGroups {
		p.fail("it has more than %d groups", maxGroups)
	}
	p.disjunction(depth + 1)
	if !p.skip(")") {
		p.fail("a group is not closed")
	}
	return repeatable
}

// groupName reads the name of a group, up to its >.
func (p *ecmaParser) groupName() string {
	name, rest, closed := strings.Cut(p.rest, ">")
	p.rest = rest
	if !closed || name == "" {
		p.fail("a group has no name")
	}
	for i, r := range name {
		if r != '$' && r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			p.fail("%q is not the name of a group", name)
		}
	}
	return name
}

// atomEscape reads what follows a \ outside of a class.
func (p *ecmaParser) atomEscape() {
	switch {
	case p.rest != "" && p.rest[0] >= '1' && p.rest[0] <= '9':
		n, _ := strconv.Atoi(p.digits())
		p.backref = max(p.backref, n)
	case p.skip("k"):
		if !p.skip("<") {
			p.fail(`\k has no name`)
		}
		p.referred = append(p.referred, p.groupName())
	default:
		if _, set := p.characterEscape(); !set {
			return
		}
	}
}

// syntaxCharacters may be escaped without a meaning of their own.
const syntaxCharacters = `^$\.*+?()[]{}|/`

// characterEscape reads an escape that stands for one character, or for a set.
func (p *ecmaParser) characterEscape() (r rune, set bool) {
	c := p.next()
	if i := strings.IndexRune("fnrtv", c); i >= 0 {
		return rune("\f\n\r\t\v"[i]), false
	}
	switch {
	case strings.ContainsRune(syntaxCharacters, c):
		return c, false
	case c == 'p' || c == 'P':
		p.property()
		return 0, true
	case strings.ContainsRune("dDsSwW", c):
		return 0, true
	}
	return p.codedCharacter(c), false
}

// codedCharacter reads an escape that has a code after the letter c.
func (p *ecmaParser) codedCharacter(c rune) rune {
	switch c {
	case 'x':
		return p.hex(2)
	case 'u':
		return p.codePoint()
	case 'c':
		return p.control()
	case '0':
		if p.rest != "" && isDigit(p.rest[0]) {
			p.fail(`\0 is followed by a digit`)
		}
	case 0:
		p.fail(`it ends with a \`)
	default:
		p.fail(`\%c is not an escape of ECMAScript`, c)
	}
	return 0
}

// control reads the letter of a control character.
func (p *ecmaParser) control() rune {
	letter := p.next()
	if letter|0x20 < 'a' || letter|0x20 > 'z' {
		p.fail(`\c needs a letter`)
	}
	return letter & 31
}

// hex reads hexadecimal digits.
func (p *ecmaParser) hex(digits int) rune {
	if len(p.rest) >= digits {
		if n, err := strconv.ParseUint(p.rest[:digits], 16, 32); err == nil {
			p.rest = p.rest[digits:]
			return rune(n)
		}
	}
	p.fail("an escape needs %d hexadecimal digits", digits)
	return 0
}

// codePoint reads what follows \u.
func (p *ecmaParser) codePoint() rune {
	if !p.skip("{") {
		high := p.hex(4)
		if high >= 0xD800 && high < 0xDC00 && len(p.rest) >= 6 && p.rest[:2] == `\u` {
			if low, err := strconv.ParseUint(p.rest[2:6], 16, 32); err == nil && low >= 0xDC00 && low < 0xE000 {
				p.rest = p.rest[6:]
				return (high-0xD800)<<10 + rune(low-0xDC00) + 0x10000
			}
		}
		return high
	}
	digits, rest, closed := strings.Cut(p.rest, "}")
	n, err := strconv.ParseUint(digits, 16, 32)
	if p.rest = rest; !closed || err != nil || n > unicode.MaxRune {
		p.fail(`\u{%.12s} is not a character`, digits)
	}
	return rune(n)
}

// class reads a character class whose [ was read.
func (p *ecmaParser) class() {
	p.skip("^")
	for p.err == nil && !p.skip("]") {
		if p.rest == "" {
			p.fail("a class is not closed")
			return
		}
		from, set := p.classAtom()
		if !strings.HasPrefix(p.rest, "-") || strings.HasPrefix(p.rest, "-]") {
			continue
		}
		p.skip("-")
		to, setToo := p.classAtom()
		if set || setToo || from > to {
			p.fail("a range of a class is out of order")
		}
	}
}

// classAtom reads one character of a class, or a set of them.
func (p *ecmaParser) classAtom() (r rune, set bool) {
	switch {
	case !p.skip(`\`):
		return p.next(), false
	case p.skip("b"):
		return '\b', false
	case p.skip("-"):
		return '-', false
	}
	return p.characterEscape()
}

// property reads what follows \p.
func (p *ecmaParser) property() {
	body, rest, closed := strings.Cut(strings.TrimPrefix(p.rest, "{"), "}")
	if !closed || !p.skip("{") {
		p.fail(`\p has no property in braces`)
		return
	}
	p.rest = rest
	name, value, hasValue := strings.Cut(body, "=")
	ok := false
	switch {
	case !hasValue:
		ok = isCategory(name) || isBinaryProperty(name)
	case name == "General_Category" || name == "gc":
		ok = isCategory(value)
	case name == "Script" || name == "sc" || name == "Script_Extensions" || name == "scx":
		ok = unicode.Scripts[value] != nil
	}
	if !ok {
		p.fail(`\p{%.40s} is not a property that every engine knows`, body)
	}
}

// isCategory reports whether name is the short or the long name of a general
// category.
func isCategory(name string) bool {
	return unicode.Categories[name] != nil || unicode.CategoryAliases[name] != ""
}
