package approval

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// Arguments are hostile: a model chooses them, perhaps as a foreign text wants it.
// So each value has several readings, as different servers may read it. A rule that
// denies or asks matches if one reading of one value does; a rule that allows
// matches only if every reading of every value does.

// maxLevels is how deep arguments may be nested.
const maxLevels = 256

// A condition is a compiled Argument.
type condition struct {
	path    []string // the names that lead to the value; none for all arguments
	pattern *regexp.Regexp
	strict  bool // of a rule that allows
}

func (a *Argument) compile(strict bool) (c *condition, err error) {
	c = &condition{strict: strict}
	switch {
	case a.Name == "":
		return nil, errors.New("it has no name")
	case a.Name == "*":
	case strings.HasPrefix(a.Name, "/"):
		for token := range strings.SplitSeq(a.Name[1:], "/") {
			c.path = append(c.path, jsontree.UnescapePointer(token))
		}
	default:
		c.path = []string{a.Name}
	}
	flags := "i"
	if strict {
		flags = ""
	}
	switch {
	case len(a.Pattern) > maxPatternLen:
		return nil, fmt.Errorf("the pattern is longer than %d bytes", maxPatternLen)
	case !a.Regexp:
		c.pattern, err = globs([]string{a.Pattern}, flags)
	case strict:
		c.pattern, err = regexp.Compile(a.Pattern)
	default:
		c.pattern, err = regexp.Compile(`(?i:` + a.Pattern + `)`)
	}
	return c, err
}

// decoded are the arguments of one call. They are read when a rule asks for them.
type decoded struct {
	raw    []byte
	target Target
	done   bool
	err    error
	given  *jsontree.Value // as the server gets them
	filled *jsontree.Value // with the defaults of the tool's schema
}

// read decodes the arguments. It refuses what two readers may understand differently.
func (a *decoded) read() error {
	if a.done {
		return a.err
	}
	a.done = true
	raw := a.raw
	if len(strings.TrimSpace(string(raw))) == 0 {
		raw = []byte("{}")
	}
	if a.given, a.err = readObject(raw); a.err != nil {
		return a.err
	}
	a.filled = a.given
	if d := a.target.Definition; d != nil && d.Input != nil {
		if filled, err := readObject(d.Input.ApplyDefaults(raw)); err == nil {
			a.filled = filled
		}
	}
	return nil
}

func readObject(raw []byte) (*jsontree.Value, error) {
	v, syntax := jsontree.Parse(raw, maxLevels)
	switch {
	case syntax != nil:
		return nil, fmt.Errorf("the arguments are not valid JSON: %w", syntax)
	case v.Kind != jsontree.KindObject:
		return nil, errors.New("the arguments are not a JSON object")
	}
	twice := ""
	jsontree.Duplicates(v, "", func(pointer string) { twice = pointer })
	if twice != "" {
		return nil, fmt.Errorf("the arguments have the member %.100q twice; give it once", twice)
	}
	return v, nil
}

// match reports whether the condition holds for the arguments.
func (c *condition) match(a *decoded) bool {
	if c.strict {
		values, all := reach(a.given, c.path)
		for _, v := range values {
			all = all && c.all(v)
		}
		return all && len(values) > 0
	}
	values := a.filled.Kids
	if len(c.path) > 0 {
		values = reachAny(a.filled, c.path)
	}
	for _, v := range values {
		if c.some(v) {
			return true
		}
	}
	return false
}

// reach returns the values at a path, through arrays, and those in the value there. All
// reports whether the path exists everywhere, and no other member could be taken for
// one of it.
func reach(v *jsontree.Value, path []string) (values []*jsontree.Value, all bool) {
	switch {
	case v.Kind == jsontree.KindArray || len(path) == 0 && v.Kind == jsontree.KindObject:
		all = len(v.Kids) > 0
		for _, kid := range v.Kids {
			below, ok := reach(kid, path)
			values, all = append(values, below...), all && ok
		}
		return values, all
	case len(path) == 0:
		return []*jsontree.Value{v}, true
	}
	member, single := memberOf(v, path[0])
	if member == nil {
		return nil, false
	}
	values, all = reach(member, path[1:])
	return values, all && single
}

// memberOf returns the member of that name. Single reports whether no other name could
// be taken for it.
func memberOf(v *jsontree.Value, name string) (found *jsontree.Value, single bool) {
	single = true
	for _, kid := range v.Members() {
		switch {
		case kid.Name == name:
			found = kid
		case alike(kid.Name, name):
			single = false
		}
	}
	return found, single
}

// reachAny returns the values at a path, through arrays and JSON in texts. Names that
// some servers take for the same are.
func reachAny(v *jsontree.Value, path []string) (values []*jsontree.Value) {
	switch {
	case len(path) == 0:
		return []*jsontree.Value{v}
	case v.Kind == jsontree.KindString:
		if inner := inText(v); inner != nil {
			return reachAny(inner, path)
		}
	case v.Kind == jsontree.KindArray:
		for _, kid := range v.Kids {
			values = append(values, reachAny(kid, path)...)
		}
	default:
		for _, kid := range v.Members() {
			if alike(kid.Name, path[0]) {
				values = append(values, reachAny(kid, path[1:])...)
			}
		}
	}
	return values
}

// alike reports whether a server may take one name for the other.
func alike(a, b string) bool { return strings.EqualFold(plain(a), plain(b)) }

func plain(text string) string {
	return strings.TrimSpace(cleartext.Clean(strings.ReplaceAll(text, "\x00", "")))
}

// inText returns the JSON that a text is, which some servers parse; nil if it is none.
// JSON is shorter than the text that it is in, so there is an end of texts in texts.
func inText(v *jsontree.Value) *jsontree.Value {
	text := strings.TrimSpace(v.Text)
	if v.Kind != jsontree.KindString || text == "" || !strings.ContainsRune(`{["`, rune(text[0])) {
		return nil
	}
	inner, syntax := jsontree.Parse([]byte(text), maxLevels)
	if syntax != nil {
		return nil
	}
	return inner
}

// all reports whether every reading of a value without others in it matches.
func (c *condition) all(v *jsontree.Value) bool {
	for _, text := range readings(v) {
		if !c.pattern.MatchString(text) {
			return false
		}
	}
	inner := inText(v)
	if inner == nil {
		return true
	}
	values, _ := reach(inner, nil)
	for _, one := range values {
		if !c.all(one) {
			return false
		}
	}
	return true
}

// some reports whether a reading of v, of a value in it, or of a name in it matches.
func (c *condition) some(v *jsontree.Value) bool {
	for _, text := range readings(v) {
		if c.pattern.MatchString(text) {
			return true
		}
	}
	if inner := inText(v); inner != nil {
		return c.some(inner)
	}
	for _, kid := range v.Kids {
		if v.Kind == jsontree.KindObject && c.anyReading(kid.Name) || c.some(kid) {
			return true
		}
	}
	return false
}

func (c *condition) anyReading(text string) bool {
	for _, one := range textReadings(text) {
		if c.pattern.MatchString(one) {
			return true
		}
	}
	return false
}

// readings returns the texts that servers may read a value as.
func readings(v *jsontree.Value) []string {
	switch {
	case v.Kind == jsontree.KindString:
		return textReadings(v.Text)
	case v.Kind&jsontree.KindNumber != 0:
		texts := []string{string(v.Raw)}
		if f, err := strconv.ParseFloat(string(v.Raw), 64); err == nil {
			texts = append(texts, strconv.FormatFloat(f, 'f', -1, 64))
		}
		return texts
	case v.Kind&(jsontree.KindNull|jsontree.KindBoolean) != 0:
		return []string{string(v.Raw)}
	}
	return nil
}

// textReadings returns a text as it is; up to the character that ends texts in C;
// without hidden characters and space around it; with escapes of URLs decoded; and
// each of these as a path or an address in its shortest form.
func textReadings(text string) []string {
	texts := []string{text}
	if head, _, cut := strings.Cut(text, "\x00"); cut {
		texts = append(texts, head)
	}
	if p := plain(text); p != text {
		texts = append(texts, p)
	}
	const mostDecoded = 3 // times that a text may be escaped
	for last, i := texts[len(texts)-1], 0; i < mostDecoded; i++ {
		next := decodeEscapes(last)
		if next == last {
			break
		}
		last = next
		texts = append(texts, next)
	}
	for _, one := range texts[:len(texts):len(texts)] {
		if p := shortest(one); p != one {
			texts = append(texts, p)
		}
	}
	return texts
}

// decodeEscapes decodes each %XX; others stay, as lenient servers have it.
func decodeEscapes(text string) string {
	at := strings.IndexByte(text, '%')
	if at < 0 {
		return text
	}
	decoded := append(make([]byte, 0, len(text)), text[:at]...)
	for ; at < len(text); at++ {
		c := text[at]
		if c == '%' && at+2 < len(text) {
			if code, err := strconv.ParseUint(text[at+1:at+3], 16, 8); err == nil {
				c, at = byte(code), at+2
			}
		}
		decoded = append(decoded, c)
	}
	return string(decoded)
}

// An address whose scheme is one of these needs no slash after it, and its host is
// found however many there are (WHATWG URL, special schemes).
var special = lazyregexp.New(`^(?i:(https?|wss?|ftp|file)):/*(.*)$`)

// shortest returns a path without "..", "." and repeated separators, and an address
// without user, default port, a dot at the end of its host, and line breaks.
func shortest(text string) string {
	slashed := strings.ReplaceAll(text, `\`, "/")
	breaks := strings.NewReplacer("\t", "", "\n", "", "\r", "")
	if m := special.FindStringSubmatch(breaks.Replace(slashed)); m != nil {
		if scheme := strings.ToLower(m[1]); scheme != "file" {
			return shortAddress(scheme, m[2])
		}
		local := m[2]
		if strings.HasPrefix(slashed[len("file:"):], "//") && !strings.HasPrefix(slashed[len("file:"):], "///") {
			_, local, _ = strings.Cut(local, "/") // without the host
		}
		return path.Clean("/" + local)
	}
	if scheme, rest, address := strings.Cut(slashed, "://"); address {
		return shortAddress(scheme, rest)
	}
	if slashed == "" || !strings.Contains(slashed, "/") {
		return text
	}
	return path.Clean(slashed)
}

var defaultPorts = map[string]string{"http": ":80", "ws": ":80", "https": ":443", "wss": ":443", "ftp": ":21"}

func shortAddress(scheme, rest string) string {
	host, below := rest, ""
	if at := strings.IndexAny(rest, "/?#"); at >= 0 {
		host, below = rest[:at], rest[at:]
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	host = strings.TrimSuffix(strings.TrimSuffix(host, ":"), defaultPorts[scheme])
	host = strings.TrimSuffix(host, ".")
	after := ""
	if at := strings.IndexAny(below, "?#"); at >= 0 {
		below, after = below[:at], below[at:]
	}
	return scheme + "://" + host + path.Clean("/"+below) + after
}
