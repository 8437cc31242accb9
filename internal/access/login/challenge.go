package login

import (
	"net/http"
	"strings"
	"unicode"

	"golang.org/x/net/http/httpguts"
)

// A challenge is how a server refused a request.
type challenge struct {
	bearer   bool   // it wants a token
	metadata string // the address of its metadata
	code     string
	scopes   []string
}

// readChallenge reads the headers WWW-Authenticate. A header that is malformed
// counts as none.
func readChallenge(h http.Header) (c challenge) {
	values := h.Values("WWW-Authenticate")
	if len(values) > 8 || len(strings.Join(values, "")) > 16<<10 {
		return c
	}
	for _, value := range values {
		for _, one := range parseChallenges(value) {
			if one.scheme == "bearer" {
				c.bearer = true
				c.code = one.params["error"]
				c.scopes = cleanScopes(strings.Fields(one.params["scope"]))
			}
			if m := one.params["resource_metadata"]; m != "" && c.metadata == "" {
				c.metadata = m
			}
		}
	}
	return c
}

// An authChallenge is one challenge of a header WWW-Authenticate: a scheme and its
// parameters, both with lower-case names.
type authChallenge struct {
	scheme string
	params map[string]string
}

// parseChallenges parses a header WWW-Authenticate (RFC 9110, §11.6.1), nil if it is
// malformed. Values without quotes may have any character but a comma: servers write
// addresses so.
func parseChallenges(header string) (all []authChallenge) {
	rest := strings.TrimLeft(header, " \t,")
	atScheme := false // a parameter may follow without a comma
	for rest != "" {
		name, after := cutToken(rest)
		value, isParam := strings.CutPrefix(after, "=")
		switch {
		case name == "", isParam && all == nil, !isParam && atScheme:
			return nil
		case isParam:
			text, left, ok := cutValue(strings.TrimLeft(value, " \t"))
			if !ok {
				return nil
			}
			all[len(all)-1].params[strings.ToLower(name)] = text
			rest, atScheme = left, false
		default:
			all = append(all, authChallenge{strings.ToLower(name), map[string]string{}})
			rest = skipToken68(after)
			atScheme = rest != "" && rest[0] != ','
		}
		rest = strings.TrimLeft(rest, " \t,")
	}
	return all
}

// cutToken returns the token at the start of a text, and what follows it and blanks.
func cutToken(text string) (token, rest string) {
	end := strings.IndexFunc(text, func(r rune) bool { return !httpguts.IsTokenRune(r) })
	if end < 0 {
		end = len(text)
	}
	return text[:end], strings.TrimLeft(text[end:], " \t")
}

// cutValue returns the value at the start of a text, quoted or up to the next comma,
// and what follows. It must end there.
func cutValue(text string) (value, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		value, rest, _ = strings.Cut(text, ",")
		return strings.TrimRightFunc(value, unicode.IsSpace), rest, true
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			rest = strings.TrimLeft(text[i+1:], " \t")
			return b.String(), rest, rest == "" || rest[0] == ','
		case '\\':
			if i++; i == len(text) {
				return "", "", false
			}
		}
		b.WriteByte(text[i])
	}
	return "", "", false
}

// skipToken68 returns a text without the credentials of a scheme that has them in the
// place of parameters, such as Negotiate.
func skipToken68(text string) string {
	end := strings.IndexByte(text, ',')
	if end < 0 {
		end = len(text)
	}
	body := strings.TrimRight(strings.TrimSpace(text[:end]), "=")
	isBody := func(r rune) bool {
		return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-._~+/", r))
	}
	if body == "" || strings.ContainsFunc(body, func(r rune) bool { return !isBody(r) }) {
		return text
	}
	return text[end:]
}
