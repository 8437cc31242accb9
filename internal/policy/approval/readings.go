package approval

import (
	"path"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// A reading is one way in which a server may read a value.
type reading struct {
	text   string
	folded string // the text without differences of case
}

// maxReadings is how many readings one text may have. One with more was made to have them.
const maxReadings = 40

func newReading(text string) reading { return reading{text, foldCase(text)} }

// readingsOf returns the texts that servers may read a value as, none of an array or object.
func (a *decodedArguments) readingsOf(v *jsontree.Value) []reading {
	switch {
	case v.Kind == jsontree.KindString:
		return a.textReadings(v.Text)
	case v.Kind&jsontree.KindNumber != 0:
		return append(numberReadings(string(v.Raw)), newReading(string(v.Raw)))
	case v.Kind&(jsontree.KindNull|jsontree.KindBoolean) != 0:
		return []reading{newReading(string(v.Raw))}
	}
	return nil
}

// numberReadings returns a number in decimals, and zero for each zero.
func numberReadings(text string) []reading {
	f, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil:
		return nil
	case f == 0:
		return []reading{newReading("0")}
	}
	return []reading{newReading(strconv.FormatFloat(f, 'f', -1, 64))}
}

// numberInText returns the number that a text is, which some servers read there.
func (a *decodedArguments) numberInText(text string) []reading {
	if text = plain(text); len(text) > 64 {
		return nil
	}
	return numberReadings(text)
}

// textReadings returns a text and everything that the steps below make of it, in any
// order and as often as they change something.
func (a *decodedArguments) textReadings(text string) []reading {
	if known, ok := a.readings[text]; ok {
		return known
	}
	if len(text) > maxText {
		a.err = errTooLong
		return nil
	}
	texts := []string{text}
	seen := map[string]bool{text: true}
	for i := 0; i < len(texts); i++ {
		for _, step := range []func(string) string{beforeNUL, plain, decodeEscapes, shortest, withoutFragment} {
			next := step(texts[i])
			if seen[next] {
				continue
			}
			if len(texts) == maxReadings || !a.spend(len(next)) {
				a.err = errTooLong
				return nil
			}
			seen[next] = true
			texts = append(texts, next)
		}
	}
	readings := make([]reading, len(texts))
	for i, t := range texts {
		readings[i] = newReading(t)
	}
	a.readings[text] = readings
	return readings
}

// beforeNUL returns a text up to the character that ends texts in C.
func beforeNUL(text string) string {
	head, _, _ := strings.Cut(text, "\x00")
	return head
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

var defaultPorts = map[string]string{"http": "80", "ws": "80", "https": "443", "wss": "443", "ftp": "21"}

// withoutDefaultPort removes an empty port, zeros before a port, and the one that the
// scheme has anyway.
func withoutDefaultPort(scheme, host string) string {
	name, port, found := cutLast(host, ":")
	if !found || strings.Trim(port, "0123456789") != "" {
		return host
	}
	if port = strings.TrimLeft(port, "0"); port == "" || port == defaultPorts[scheme] {
		return name
	}
	return name + ":" + port
}

func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(separator):], true
}

// withoutFragment returns an address without what never reaches its server: the
// fragment, and for files query and parameters too.
func withoutFragment(text string) string {
	ends := "#"
	if m := special.FindStringSubmatch(text); m != nil && strings.EqualFold(m[1], "file") {
		ends = "#?;"
	} else if m == nil && !strings.Contains(text, "://") {
		return text
	}
	if at := strings.IndexAny(text, ends); at >= 0 {
		return text[:at]
	}
	return text
}

func shortAddress(scheme, rest string) string {
	host, below := rest, ""
	if at := strings.IndexAny(rest, "/?#"); at >= 0 {
		host, below = rest[:at], rest[at:]
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	host = strings.TrimSuffix(withoutDefaultPort(scheme, host), ".")
	after := ""
	if at := strings.IndexAny(below, "?#"); at >= 0 {
		below, after = below[:at], below[at:]
	}
	return scheme + "://" + host + path.Clean("/"+below) + after
}
