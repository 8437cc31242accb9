package config

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/internal/access/oauth"
	"github.com/toolpost/toolpost/internal/netaddr"
)

// exchangeKeys says what each key of a token exchange sets.
var exchangeKeys = map[string]func(e *entry, x *Exchange, v hujson.Value, path string){
	"issuer":   (*entry).exchangeIssuer,
	"clientId": func(e *entry, x *Exchange, v hujson.Value, path string) { x.ClientID = e.expandText(v, path) },
	"clientSecret": func(e *entry, x *Exchange, v hujson.Value, path string) {
		x.ClientSecret = e.expandText(v, path)
	},
	"subjectToken": func(e *entry, x *Exchange, v hujson.Value, path string) {
		x.SubjectToken = e.expandText(v, path)
	},
	"subjectType": (*entry).subjectType,
	"audience": func(e *entry, x *Exchange, v hujson.Value, path string) {
		x.Audience = e.noReference(e.expandText(v, path), v, path)
	},
	"resource": func(e *entry, x *Exchange, v hujson.Value, path string) { x.Resource = e.webAddress(v, path) },
}

// exchange reads which token is exchanged where.
func (e *entry) exchange(v hujson.Value, path string) {
	x := &e.server.Auth.Exchange
	e.members(v, path, func(m *hujson.ObjectMember) {
		name := key(m)
		set := exchangeKeys[name]
		switch {
		case set == nil:
			e.unknown(m, path, slices.Sorted(maps.Keys(exchangeKeys)))
		case m.Value.Value.Kind() != 'n':
			set(e, x, m.Value, path+"."+name)
		}
	})
}

// exchangeIssuer reads the address of an identity provider, which gets subject tokens.
func (e *entry) exchangeIssuer(x *Exchange, v hujson.Value, path string) {
	x.Issuer = e.webAddress(v, path)
	u, err := url.Parse(x.Issuer)
	if e.vars != nil && err == nil && u.Scheme == "http" && !netaddr.IsLoopback(u.Hostname()) {
		e.fail(v.StartOffset, "%s is not https; want https://…, or http://… of this machine", path)
	}
}

// subjectType reads a token type: a URN, or the end of one of RFC 8693.
func (e *entry) subjectType(x *Exchange, v hujson.Value, path string) {
	const prefix = "urn:ietf:params:oauth:token-type:"
	name := e.text(v, path)
	switch {
	case slices.Contains([]string{"id_token", "access_token", "jwt", "saml2"}, name):
		name = prefix + name
	case !strings.HasPrefix(name, "urn:") && v.Value.Kind() == '"':
		e.fail(v.StartOffset, `%s is %.40q; want "id_token", "access_token", "jwt", "saml2" or a URN`, path, name)
	}
	x.SubjectType = name
}

// checkExchange checks that a token exchange has all that it needs, and that nothing of it
// is written without its type.
func (e *entry) checkExchange(a *Auth, v hujson.Value, path string) {
	x, missing := &a.Exchange, []string{}
	if a.Type != oauth.TokenExchange {
		if slices.ContainsFunc(describeExchange(x), func(part [2]string) bool { return part[1] != "" }) {
			e.fail(v.StartOffset, `%s.exchange has no effect without the type "token_exchange"; add it`, path)
		}
		return
	}
	for _, need := range [][2]string{{a.Issuer, "issuer"}, {a.ClientID, "clientId"}, {x.Issuer, "exchange.issuer"}, {x.SubjectToken, "exchange.subjectToken"}} {
		if need[0] == "" {
			missing = append(missing, need[1])
		}
	}
	if x.ClientID == "" && strings.TrimSuffix(x.Issuer, "/") != strings.TrimSuffix(a.Issuer, "/") {
		missing = append(missing, "exchange.clientId")
	}
	if len(missing) > 0 {
		e.fail(v.StartOffset, `%s has the type "token_exchange"; add %s`, path, strings.Join(missing, ", "))
	}
}

// describeExchange returns the parts of a token exchange that the user approves.
func describeExchange(x *Exchange) [][2]string {
	return [][2]string{
		{"exchange.issuer", x.Issuer}, {"exchange.clientId", x.ClientID}, {"exchange.clientSecret", x.ClientSecret},
		{"exchange.subjectToken", x.SubjectToken}, {"exchange.subjectType", x.SubjectType},
		{"exchange.audience", x.Audience}, {"exchange.resource", x.Resource},
	}
}
