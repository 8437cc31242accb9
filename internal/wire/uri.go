package wire

import (
	"encoding/json"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/idna"
)

// URIMembers are the members of results and definitions that name resources, and
// DataMembers those whose value is data, in which nothing names one.
var (
	URIMembers  = []string{"uri", "resourceUri", "ui/resourceUri"}
	DataMembers = []string{"structuredContent", "text", "blob"}
)

// Some clients, such as those of the official Python SDK before version 2, parse each
// URI by the URL standard (https://url.spec.whatwg.org), and refuse a whole list or
// result because of one that is not a URL.

// IsURI reports whether all clients accept a text as a URI.
func IsURI(text string) bool {
	text = strings.Trim(text, controls) // readers of URLs ignore these
	if strings.ContainsAny(text, "\t\n\r") {
		text = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(text)
	}
	scheme, rest, ok := strings.Cut(text, ":")
	if !ok || !isScheme(scheme) {
		return false
	}
	switch strings.ToLower(scheme) {
	case "file":
		if len(rest) < 2 || strings.Trim(rest[:2], `/\`) != "" {
			return true
		}
		host := untilAny(rest[2:], `/\?#`)
		return host == "" || isDrive(host) || isDomain(host) || isIPv6(host)
	case "http", "https", "ws", "wss", "ftp":
		return isAuthority(untilAny(strings.TrimLeft(rest, `/\`), `/\?#`), true)
	}
	rest, ok = strings.CutPrefix(rest, "//")
	return !ok || isAuthority(untilAny(rest, "/?#"), false)
}

// controls are the control characters of ASCII, and the space.
const controls = "\x00\x01\x02\x03\x04\x05\x06\a\b\t\n\v\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f "

func isScheme(s string) bool {
	return s != "" && (s[0]|0x20) >= 'a' && (s[0]|0x20) <= 'z' && !strings.ContainsFunc(s, func(r rune) bool { return !isSchemeCharacter(r) })
}

func isSchemeCharacter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '+' || r == '-' || r == '.'
}

// untilAny returns the part of s before the first character of a set.
func untilAny(s, set string) string {
	if i := strings.IndexAny(s, set); i >= 0 {
		return s[:i]
	}
	return s
}

// isDrive reports whether a text is a drive letter of Windows.
func isDrive(s string) bool {
	return len(s) == 2 && isScheme(s[:1]) && (s[1] == ':' || s[1] == '|')
}

// isAuthority reports whether a text is the user, host and port of a URL. The host of
// web addresses is a domain, and cannot be empty.
func isAuthority(s string, web bool) bool {
	user := strings.LastIndexByte(s, '@')
	host := s[user+1:]
	end := strings.IndexByte(host, ']')
	if !strings.HasPrefix(host, "[") || end < 0 {
		end = 0
	}
	port := ""
	colon := strings.IndexByte(host[end:], ':')
	if colon >= 0 {
		host, port = host[:end+colon], host[end+colon+1:]
	}
	if n, err := strconv.ParseUint("0"+port, 10, 64); err != nil || n > 65535 || strings.Contains(port, "_") {
		return false
	}
	switch {
	case host == "":
		return !web && user < 0 && colon < 0
	case host[0] == '[':
		return isIPv6(host)
	case web:
		return isDomain(host)
	}
	return !strings.ContainsAny(host, "\x00 #/:<>?@[\\]^|")
}

func isIPv6(host string) bool {
	address, ok := strings.CutPrefix(host, "[")
	address, closed := strings.CutSuffix(address, "]")
	ip, err := netip.ParseAddr(address)
	return ok && closed && err == nil && ip.Is6() && ip.Zone() == ""
}

// domains reads domains as readers of URLs do.
var domains = sync.OnceValue(func() *idna.Profile {
	return idna.New(idna.MapForLookup(), idna.BidiRule(), idna.CheckJoiners(true), idna.CheckHyphens(false), idna.StrictDomainName(false), idna.VerifyDNSLength(false))
})

// isDomain reports whether a text is a domain or an IPv4 address.
func isDomain(host string) bool {
	decoded, err := url.PathUnescape(host)
	if err != nil { // a % that is not part of an escape is not a character of domains
		return false
	}
	ascii, err := domains().ToASCII(strings.ToValidUTF8(decoded, "\uFFFD"))
	if err != nil || ascii == "" || strings.ContainsAny(ascii, controls+"#/:<>?@[\\]^|%\x7f") {
		return false
	}
	labels := strings.Split(strings.TrimSuffix(ascii, "."), ".")
	last := labels[len(labels)-1]
	hex, isHex := strings.CutPrefix(last, "0x")
	if last != "" && strings.Trim(last, "0123456789") == "" || isHex && strings.Trim(hex, "0123456789abcdef") == "" {
		return isIPv4(labels)
	}
	return true
}

// isIPv4 reports whether the parts of a host are those of an IPv4 address, of which
// the last one may stand for several.
func isIPv4(parts []string) bool {
	last := len(parts) - 1
	for i, part := range parts {
		if i < last && !isNumber(part, 8) {
			return false
		}
	}
	return last < 4 && isNumber(parts[last], 8*(4-last))
}

// isNumber reports whether a text is a number of an IPv4 address, decimal, octal or
// hexadecimal, of at most some bits.
func isNumber(s string, bits int) bool {
	base := 10
	switch {
	case strings.HasPrefix(s, "0x"):
		s, base = "0"+s[2:], 16
	case len(s) > 1 && s[0] == '0':
		s, base = s[1:], 8
	}
	_, err := strconv.ParseUint(s, base, bits)
	return err == nil
}

// isURI is [IsURI] for a string in JSON.
func isURI(raw json.RawMessage) bool { return IsURI(Unquote(raw)) }

// replacedScheme begins URIs that stand for a text that is not one.
const replacedScheme = "toolpost-uri:"

// ReplaceURI returns a URI that all clients accept: the text itself, or one from which
// [RestoreURI] finds the text, also after a client has normalized it.
func ReplaceURI(text string) string {
	if IsURI(text) {
		return text
	}
	b := []byte(replacedScheme)
	for i := range len(text) {
		switch c := text[i]; {
		case c == '/' && i == 0: // would begin a path, in which dots have a meaning
			b = append(b, "%2F"...)
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("/:@-._~!$&'()*+,;=", c) >= 0:
			b = append(b, c)
		default:
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return string(b)
}

const upperHex = "0123456789ABCDEF"

// RestoreURI returns the text that [ReplaceURI] has replaced, and any other URI as it is.
func RestoreURI(uri string) string {
	escaped, ok := strings.CutPrefix(uri, replacedScheme)
	if !ok {
		return uri
	}
	if text, err := url.PathUnescape(escaped); err == nil && ReplaceURI(text) == uri {
		return text
	}
	return uri
}

// toURI is [ReplaceURI] for a string in JSON.
func toURI(raw json.RawMessage, _ string) json.RawMessage {
	if raw[0] != '"' || len(raw) <= len(`""`) {
		return nil
	}
	return Quote(ReplaceURI(Unquote(raw)))
}
