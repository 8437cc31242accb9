package callers

import (
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/toolpost/toolpost/internal/netaddr"
)

// claims are what an authorization server says about a token: the payload of a JWT
// (RFC 9068), or the answer of an introspection (RFC 7662). They are decoded as both
// ask: names are case-sensitive, and none comes twice.
type claims struct {
	Issuer    string   `json:"iss"`
	Subject   string   `json:"sub"`
	Client    string   `json:"client_id"`
	Audience  oneOrAll `json:"aud"`
	Expires   float64  `json:"exp"`
	NotBefore float64  `json:"nbf"`
	Scope     oneOrAll `json:"scope"`
	Scp       oneOrAll `json:"scp"` // as some servers call it
	Active    bool     `json:"active"`
}

// oneOrAll is a string, or an array of strings.
type oneOrAll []string

// UnmarshalJSON implements [json.Unmarshaler].
func (o *oneOrAll) UnmarshalJSON(raw []byte) error {
	if len(raw) > 0 && raw[0] == '[' {
		return json.Unmarshal(raw, (*[]string)(o))
	}
	var one string
	if err := json.Unmarshal(raw, &one); err != nil {
		return err
	}
	*o = oneOrAll{one}
	return nil
}

// has reports whether the token has a scope.
func (c *claims) has(scope string) bool {
	return slices.ContainsFunc(slices.Concat(c.Scope, c.Scp), func(s string) bool { return slices.Contains(strings.Fields(s), scope) })
}

func (c *claims) expiry() time.Time { return seconds(c.Expires) }

// latest keeps times within those that can be compared and written.
const latest = 1 << 37 // seconds, in the year 6325

func seconds(n float64) time.Time { return time.Unix(int64(max(0, min(n, latest))), 0) }

// longestSubject is more than OpenID Connect allows.
const longestSubject = 256

// identity is the [Caller].Identity; "" if the token does not name its subject. A
// client that acts for itself may have no other name than its id. A subject whose
// name looks like that of a client gets another one.
func (c *claims) identity(issuer string) string {
	subject := c.Subject
	switch {
	case subject == "" && c.Client != "":
		subject = "client " + c.Client
	case strings.HasPrefix(subject, "client "), strings.HasPrefix(subject, "subject "):
		subject = "subject " + subject
	}
	odd := strings.ContainsFunc(subject, func(r rune) bool { return !unicode.IsPrint(r) })
	if subject == "" || len(subject) > longestSubject || odd {
		return ""
	}
	return subject + "@" + issuer
}

// Check returns what is wrong with the options. A Resource that is not known yet is
// not wrong.
func (o *Options) Check() error {
	switch {
	case !isAddress(o.Issuer):
		return errors.New("issuer is not the address of an authorization server; want https, or http on this machine, without a query, such as https://login.example.com")
	case o.Resource != "" && (!isAddress(o.Resource) || strings.HasSuffix(o.Resource, "/")):
		return errors.New("resource is not the address of /mcp as clients use it; want https, or http on this machine, without a query or a slash at the end, such as https://tools.example.com/mcp")
	}
	if i := o.Introspection; i != nil && (i.ClientID == "" || i.Endpoint != "" && !isAddress(i.Endpoint)) {
		return errors.New("introspection needs a clientId, and endpoint is an address with https, or http on this machine")
	}
	for _, scope := range o.allScopes() {
		if scope == "offline_access" {
			return errors.New("offline_access is a matter of the client and the authorization server; remove the scope")
		}
		if scope == "" || !isPlain(scope) {
			return errors.New("a scope is empty, or contains spaces, quotes or characters that are not ASCII")
		}
	}
	return nil
}

// allScopes returns all scopes that matter, sorted.
func (o *Options) allScopes() []string {
	scopes := slices.Clone(o.Scopes)
	for _, p := range o.Profiles {
		scopes = append(scopes, p.Scope)
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}

// isPlain reports whether a text needs no escaping in a header: ASCII without spaces
// and quotes.
func isPlain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' })
}

// isAddress reports whether a text is the address of a server that can be trusted
// with tokens: https, or http of this machine.
func isAddress(text string) bool {
	u, err := url.Parse(text)
	if err != nil || !isPlain(text) || strings.ContainsAny(text, "?#") || u.Hostname() == "" || u.User != nil {
		return false
	}
	return u.Scheme == "https" || u.Scheme == "http" && netaddr.IsLoopback(u.Hostname())
}
