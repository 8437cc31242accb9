package dialect

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
)

// patterns are the expressions of a dialect, compiled once for all lists.
type patterns struct {
	name     nameLimits // the dialect's, of which they were compiled
	property string     // the dialect's pattern of properties

	names, fold, properties *regexp.Regexp // nil takes all
	longest                 int            // letters of a name that names takes
}

// patterns returns the compiled expressions of d as it is now.
func (d *Dialect) patterns() *patterns {
	if d.compiled != nil {
		if p := d.compiled(); p.name == d.form.Name && p.property == d.form.Input.Object.Name {
			return p
		}
	}
	return d.compile()
}

func (d *Dialect) compile() *patterns {
	p := &patterns{name: d.form.Name, property: d.form.Input.Object.Name, longest: unlimited}
	p.names, p.fold, p.properties = expression(p.name.Pattern), expression(p.name.Fold), expression(p.property)
	if p.names != nil && p.names.MatchString("a") { // its own limit: the first number of letters that is too long
		p.longest = sort.Search(unlimited, func(i int) bool { return !p.names.MatchString(strings.Repeat("a", i+1)) })
	}
	return p
}

// A namer gives the tools of one list names that their reader takes, no two
// the same to it. A name that fits stays. Another one becomes its readable
// parts and a hash of itself: what else is on the list does not change it,
// unless two names collide.
type namer struct {
	pattern *regexp.Regexp // nil takes all
	fold    *regexp.Regexp
	room    int    // runes for a name without the reader's prefix
	sep     string // between words
	prefix  string
}

// unlimited is the room for a name where the reader has no limit.
const unlimited = 1024

// hashLength is how many characters of a new name are a hash.
const hashLength = 6

// defaultServer is the name of a server without a name.
const defaultServer = "toolpost"

func (d *Dialect) namer(server string) *namer {
	p := d.patterns()
	n := &namer{pattern: p.names, fold: p.fold, room: p.longest, sep: "_"}
	if server == "" {
		server = defaultServer
	}
	n.prefix = strings.ReplaceAll(d.form.Name.Prefix, "{server}", n.cleanServer(server))
	if d.form.Name.Max > 0 {
		n.room = min(n.room, d.form.Name.Max-utf8.RuneCountInString(n.prefix))
	}
	if !n.allows('_') {
		n.sep = "-"
	}
	return n
}

// expression compiles a pattern of a dialect. Those that a [Book] holds
// compile; any other takes all.
func expression(pattern string) *regexp.Regexp {
	re, err := regexp.Compile(pattern)
	if pattern == "" || err != nil {
		return nil
	}
	return re
}

// cleanServer writes the server's name as readers do before tool names.
func (n *namer) cleanServer(server string) string {
	return strings.Map(func(r rune) rune {
		if n.fold != nil && n.fold.MatchString(string(r)) || n.fold == nil && plainRune(r) {
			return r
		}
		return '_'
	}, server)
}

func plainRune(r rune) bool {
	return r == '_' || r == '-' || r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// fits reports whether the reader accepts the name unchanged.
func (n *namer) fits(name string) bool {
	return name != "" && utf8.ValidString(name) && utf8.RuneCountInString(name) <= n.room &&
		(n.pattern == nil || n.pattern.MatchString(name))
}

// foldName is equal for names that the reader takes for one.
func (n *namer) foldName(name string) string {
	if n.fold == nil {
		return name
	}
	return strings.Map(func(r rune) rune {
		if r == '_' || n.fold.MatchString(string(r)) {
			return r
		}
		return '_'
	}, name)
}

// names returns the new names, in order; "" where there is none, or none can
// be made.
func (n *namer) names(tools []*toolpost.Tool) []string {
	names, keeper := make([]string, len(tools)), map[string]int{}
	for i, t := range tools {
		if !n.fits(t.Name) {
			continue
		}
		key := n.foldName(t.Name)
		if j, taken := keeper[key]; !taken || n.before(t.Name, tools[j].Name, key) {
			keeper[key] = i
		}
	}
	taken := make(map[string]bool, len(tools))
	for key, i := range keeper {
		names[i], taken[key] = tools[i].Name, true
	}
	tries := map[string]int{}
	for i, t := range tools {
		for names[i] == "" && t.Name != "" {
			name := n.rename(t.Name, tries[t.Name])
			tries[t.Name]++
			if name == "" {
				break
			}
			if key := n.foldName(name); !taken[key] {
				names[i], taken[key] = name, true
			}
		}
	}
	return names
}

// before says which of two names that are the same to the reader stays: the
// one that it writes like that itself, else the first by alphabet.
func (n *namer) before(a, b, key string) bool {
	if (a == key) != (b == key) {
		return a == key
	}
	return a < b
}

// rename makes a new name; try is another number if the first is taken.
func (n *namer) rename(name string, try int) string {
	origin := name
	if try > 0 {
		origin += "\x00" + strconv.Itoa(try)
	}
	sum := sha256.Sum256([]byte(origin))
	hash := strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:hashLength]
	words := n.clean(shorten(name, unlimited, n.sep))
	for _, readable := range []string{words, strings.Trim("tool"+n.sep+words, n.sep)} {
		short := shorten(readable, n.room-len(n.sep)-hashLength, n.sep)
		if renamed := short + n.sep + hash; short != "" && n.fits(renamed) {
			return renamed
		}
	}
	return ""
}

// refusal says why no name could be made, and by which rule.
func (n *namer) refusal(name string) (rule, why string) {
	switch {
	case name == "":
		return "name", "the tool has no name; give it one"
	case n.room <= hashLength+len(n.sep):
		return "name-length", fmt.Sprintf("the name is too long: after the prefix %s, %d characters are left; give the server a shorter name",
			n.prefix, max(n.room, 0))
	}
	return "name", fmt.Sprintf("no name like %q is accepted; give the tool another name", clip(name, 80))
}

// clean returns the readable parts of a name in characters that the reader takes.
func (n *namer) clean(name string) string {
	var b strings.Builder
	gap := false
	for _, r := range name {
		letters := n.readable(r)
		gap = gap || letters == ""
		if letters == "" || letters == n.sep && gap {
			continue
		}
		if gap && b.Len() > 0 && !strings.HasSuffix(b.String(), n.sep) {
			b.WriteString(n.sep)
		}
		gap = false
		b.WriteString(letters)
	}
	return strings.TrimRight(b.String(), n.sep)
}

// The letters of names with accents, and what they are without.
const (
	accented = "àáâãäåçèéêëìíîïñòóôõöøùúûüýÿāăąćĉċčďđēĕėęěĝğġģĥħĩīĭįıĵķĺļľłńņňōŏőŕŗřśŝşšţťŧũūŭůűųŵŷźżžß"
	bare     = "aaaaaaceeeeiiiinoooooouuuuyyaaaccccddeeeeegggghhiiiiijkllllnnnooorrrsssstttuuuuuuwyzzzs"
)

// readable returns the nearest to r that the reader takes, "" if there is nothing.
func (n *namer) readable(r rune) string {
	lower := unicode.ToLower(r)
	if i := strings.IndexRune(accented, lower); i >= 0 {
		plain := rune(bare[utf8.RuneCountInString(accented[:i])])
		if r, lower = plain, plain; !n.allows(plain) {
			return ""
		}
	}
	switch {
	case n.allows(r):
		return string(r)
	case r != lower && n.allows(lower):
		return string(lower)
	}
	return ""
}

// allows reports whether r may stand inside a name.
func (n *namer) allows(r rune) bool {
	return r != utf8.RuneError && (n.fold == nil || n.fold.MatchString(string(r))) &&
		(n.pattern == nil || n.pattern.MatchString("a"+string(r)+"a"))
}

// shorten keeps the beginning and the end of a name, cut between words where
// that keeps enough.
func shorten(name string, most int, sep string) string {
	r := []rune(name)
	switch {
	case len(r) <= most:
		return name
	case most < 1:
		return ""
	case most < 16:
		return strings.TrimRight(string(firstWords(r, most)), sep)
	}
	tail := strings.TrimLeft(string(lastWords(r, most/3)), sep)
	head := firstWords(r, most-len(sep)-utf8.RuneCountInString(tail))
	return strings.TrimRight(string(head), sep) + sep + tail
}

func firstWords(r []rune, most int) []rune {
	for i := most; i > most/2; i-- {
		if between(r, i) {
			return r[:i]
		}
	}
	return r[:most]
}

func lastWords(r []rune, most int) []rune {
	start := len(r) - most
	for i := start; i < start+most/2; i++ {
		if between(r, i) {
			return r[i:]
		}
	}
	return r[start:]
}

// between reports whether one word ends before i and another begins there.
func between(r []rune, i int) bool {
	a, b := r[i-1], r[i]
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }
	return !inWord(a) || !inWord(b) || unicode.IsLower(a) && unicode.IsUpper(b)
}
