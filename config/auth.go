package config

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/internal/access/oauth"
)

// An Auth describes how to log in to a server over HTTP. The option Credentials of package
// gateway does so; package serve and the command toolpost set it. Without an Auth, the server
// names the authorization server to ask, and the client registers itself there.
type Auth struct {
	// Type is how a token is got. With "", the user logs in, with the authorization code
	// grant; with "client_credentials", the client itself does, without a user; with
	// "token_exchange", it is got for a token that the user has of an identity provider.
	// With "none", nothing logs in: an answer 401 is the server's.
	Type string

	// The client, if it is registered with the authorization server already.
	// ClientMetadataURL is the address of a client id metadata document.
	ClientID, ClientSecret, ClientMetadataURL string

	Scopes       []string // to ask for; those that the server names if empty
	CallbackPort int      // of the address that the browser returns to; a free one if 0
	Issuer       string   // the only authorization server to use; the one that the server names if empty

	// Resource is the resource to ask for a token for (RFC 8707), in place of what the
	// server calls itself. With OmitResource, requests name none.
	Resource     string
	OmitResource bool

	// PKCE is "S256" for an authorization server that supports this method of PKCE and does
	// not announce it. Without PKCE, no user logs in.
	PKCE string

	// Parameters are added to the authorization request, or to the request of the type
	// "client_credentials", such as an audience. Those that a login depends on are left out.
	Parameters map[string]string

	Exchange Exchange // with the type "token_exchange"
}

// An Exchange describes how a token of the user, the subject token, is exchanged for one of
// the MCP server (RFC 8693). If the identity provider is the authorization server of the MCP
// server, it issues that token. Otherwise it issues an identity assertion, which that
// authorization server takes (MCP, Enterprise-Managed Authorization).
type Exchange struct {
	Issuer                 string // the identity provider, which alone gets the subject token
	ClientID, ClientSecret string // the client, as the identity provider knows it

	SubjectToken string // may be a reference, which Subject reads
	SubjectType  string // a token type of RFC 8693; that of ID tokens if empty

	Audience string // the issuer of the server's authorization server if empty
	Resource string // the address of the server, as it names itself, if empty

	// Subject returns the subject token of now. Nil returns SubjectToken.
	Subject func(ctx context.Context) (string, error) `json:"-"`
}

// authKeys says what each key of a server's auth sets. The last ones are
// the spellings of clients.
var authKeys = map[string]func(e *entry, v hujson.Value, path string){
	"type":              (*entry).authType,
	"clientId":          func(e *entry, v hujson.Value, path string) { e.server.Auth.ClientID = e.expandText(v, path) },
	"clientSecret":      func(e *entry, v hujson.Value, path string) { e.server.Auth.ClientSecret = e.expandText(v, path) },
	"clientMetadataUrl": (*entry).clientMetadata,
	"scopes":            (*entry).scopes,
	"callbackPort":      (*entry).callbackPort,
	"issuer":            func(e *entry, v hujson.Value, path string) { e.server.Auth.Issuer = e.webAddress(v, path) },
	"resource":          (*entry).resource,
	"pkce":              (*entry).pkce,
	"parameters":        (*entry).parameters,
	"exchange":          (*entry).exchange,

	"CLIENT_ID":     func(e *entry, v hujson.Value, path string) { e.server.Auth.ClientID = e.expandText(v, path) },         // Cursor
	"CLIENT_SECRET": func(e *entry, v hujson.Value, path string) { e.server.Auth.ClientSecret = e.expandText(v, path) },     // Cursor
	"scope":         func(e *entry, v hujson.Value, path string) { e.server.Auth.Scopes = strings.Fields(e.text(v, path)) }, // opencode
	"enabled":       (*entry).authEnabled,                                                                                   // Gemini CLI
}

// ignoredAuthKeys are keys that Gemini CLI writes. Toolpost finds out what they say.
var ignoredAuthKeys = []string{"authorizationUrl", "tokenUrl", "redirectUri", "audiences", "tokenParamName", "registrationUrl"}

// auth reads how to log in to a server.
func (e *entry) auth(v hujson.Value, path string) {
	switch v.Value.Kind() {
	case 't', 'f': // opencode
		e.server.Auth = &Auth{}
		e.authEnabled(v, path)
		return
	case '{':
		e.server.Auth = &Auth{}
	}
	known := []string{"type", "clientId", "clientSecret", "clientMetadataUrl", "scopes", "callbackPort", "issuer", "resource", "pkce", "parameters", "exchange"}
	e.members(v, path, func(m *hujson.ObjectMember) {
		switch name := key(m); {
		case m.Value.Value.Kind() == 'n':
		case authKeys[name] != nil:
			authKeys[name](e, m.Value, path+"."+name)
		case slices.Contains(ignoredAuthKeys, name):
			e.unused(m, path, "has no effect here: the server says it")
		default:
			e.unknown(m, path, known)
		}
	})
	a := e.server.Auth
	if a == nil || len(e.unset) > 0 {
		return
	}
	if a.Type == oauth.ClientCredentials && (a.ClientID == "" || a.ClientSecret == "") {
		e.fail(v.StartOffset, `%s has the type "client_credentials"; add "clientId" and "clientSecret"`, path)
	}
	e.checkExchange(a, v, path)
}

func (e *entry) expandText(v hujson.Value, path string) string {
	return e.expand(e.text(v, path), v, path)
}

// webAddress reads an address.
func (e *entry) webAddress(v hujson.Value, path string) string {
	before := len(e.unset)
	s := e.expandText(v, path)
	if e.vars != nil && len(e.unset) == before && v.Value.Kind() == '"' && !validURL(s) {
		e.fail(v.StartOffset, "%s is not an address; want https://…", path)
	}
	return s
}

func (e *entry) authType(v hujson.Value, path string) {
	types := map[string]string{"authorization_code": "", "oauth": "", oauth.ClientCredentials: oauth.ClientCredentials, oauth.TokenExchange: oauth.TokenExchange, oauth.NoLogin: oauth.NoLogin}
	name := e.text(v, path)
	t, ok := types[name]
	if !ok && v.Value.Kind() == '"' {
		e.fail(v.StartOffset, `%s is %.40q; want "authorization_code", "client_credentials", "token_exchange" or "none"`, path, name)
	}
	e.server.Auth.Type = t
}

// authEnabled reads a key that turns logins off.
func (e *entry) authEnabled(v hujson.Value, path string) {
	if !e.boolean(v, path) {
		e.server.Auth.Type = oauth.NoLogin
	}
}

func (e *entry) clientMetadata(v hujson.Value, path string) {
	s := e.webAddress(v, path)
	u, err := url.Parse(s)
	if e.vars != nil && s != "" && (err != nil || u.Scheme != "https" || u.Path == "" || u.Path == "/") {
		e.fail(v.StartOffset, "%s is not the https address of a client id metadata document, which has a path", path)
	}
	e.server.Auth.ClientMetadataURL = s
}

func (e *entry) scopes(v hujson.Value, path string) {
	e.server.Auth.Scopes = e.texts(v, path)
}

func (e *entry) callbackPort(v hujson.Value, path string) {
	port := limit(e.source, v, path, 1)
	if port > 65535 {
		e.fail(v.StartOffset, "%s is not a port; want 1 to 65535", path)
	}
	e.server.Auth.CallbackPort = port
}

// resource reads the resource of tokens: a text, or false for none. True is the default.
func (e *entry) resource(v hujson.Value, path string) {
	switch v.Value.Kind() {
	case 't', 'f':
		e.server.Auth.OmitResource = !e.boolean(v, path)
		return
	}
	before := len(e.unset)
	text := e.noReference(e.expandText(v, path), v, path)
	if e.vars != nil && len(e.unset) == before && v.Value.Kind() == '"' && (text == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f })) {
		e.fail(v.StartOffset, "%s is not a resource such as https://… or api://…; write false to ask for none", path)
	}
	e.server.Auth.Resource = text
}

// pkce reads the method of PKCE that an authorization server supports without announcing it.
func (e *entry) pkce(v hujson.Value, path string) {
	a := e.server.Auth
	if a.PKCE = e.text(v, path); v.Value.Kind() == '"' && a.PKCE != "S256" {
		e.fail(v.StartOffset, `%s is %.40q; want "S256", or leave it out`, path, a.PKCE)
	}
}

// parameters reads what is added to requests for a login.
func (e *entry) parameters(v hujson.Value, path string) {
	e.members(v, path, func(m *hujson.ObjectMember) {
		hints := map[string]string{"resource": "; use auth.resource", "scope": "; use auth.scopes", "client_id": "; use auth.clientId", "client_secret": "; use auth.clientSecret"}
		name := key(m)
		if name == "" || oauth.IsReserved(name) {
			e.fail(m.Name.StartOffset, "%s.%s cannot be set: a login depends on it%s", path, name, hints[name])
		}
	})
	if o, ok := v.Value.(*hujson.Object); ok && len(o.Members) == 0 {
		return
	}
	e.server.Auth.Parameters = e.table(v, path)
	for _, value := range e.server.Auth.Parameters {
		e.noReference(value, v, path)
	}
}
