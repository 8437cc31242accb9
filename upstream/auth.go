package upstream

import (
	"context"
	"reflect"
	"slices"
	"strings"
)

// An Auth describes how to log in to a server over HTTP. This package does not log in:
// [Options].Credentials, or [Config].Wrap, gets the Auth and adds the token. The command
// toolpost does so; without an Auth, the server names the authorization server to
// ask, and it registers itself there.
type Auth struct {
	Type AuthType

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
	// AuthClient, such as an audience; see [IsReservedParameter].
	Parameters map[string]string

	Exchange Exchange // of the type AuthExchange
}

// reservedParameters are those of OAuth that a login depends on: they are set by Toolpost,
// name who asks or what for, or replace the others.
var reservedParameters = strings.Fields(`response_type response_mode client_id client_secret client_assertion
	client_assertion_type redirect_uri scope state code code_challenge code_challenge_method code_verifier resource
	request request_uri grant_type refresh_token assertion subject_token subject_token_type actor_token
	actor_token_type requested_token_type username password iss error access_token`)

// IsReservedParameter reports whether a parameter cannot be one of [Auth].Parameters,
// because a login depends on it.
func IsReservedParameter(name string) bool {
	return slices.ContainsFunc(reservedParameters, func(reserved string) bool { return strings.EqualFold(reserved, strings.TrimSpace(name)) })
}

// An Exchange describes how a token of the user, the subject token, is exchanged for one
// of an MCP server (RFC 8693). If the identity provider is the authorization server of
// the MCP server, it issues that token. Otherwise it issues an identity assertion, which
// that authorization server takes (MCP, Enterprise-Managed Authorization).
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

// needsLogin reports whether requests need a token that a login returns.
func (a *Auth) needsLogin() bool { return a != nil && a.Type != AuthOff }

// equal reports whether a and b log in in the same way, with the same secrets.
func (a *Auth) equal(b *Auth) bool {
	if a == nil || b == nil {
		return a == b
	}
	one, other := *a, *b
	one.Exchange.Subject, other.Exchange.Subject = nil, nil // functions cannot be compared
	return reflect.DeepEqual(one, other)
}

// An AuthType is how Toolpost gets a token.
type AuthType string

// The types of [Auth].
const (
	AuthCode     AuthType = ""                   // the user logs in, with the authorization code grant
	AuthClient   AuthType = "client_credentials" // the client itself, without a user
	AuthExchange AuthType = "token_exchange"     // for a token that the user has of an identity provider
	AuthOff      AuthType = "none"               // never; an answer 401 is the server's
)

// A LoginError means that a server wants a login that only the user can do. A
// layer of [Config].Wrap returns it in the place of a response.
type LoginError struct {
	Command string // that logs in
	Why     string // a sentence without its full stop; may be empty
	More    bool   // the login is good, but not enough for this request
}

func (e *LoginError) Error() string {
	text := "it needs a login"
	if e.More {
		text = "this needs more permissions than its login has"
	}
	if e.Why != "" {
		text += " (" + e.Why + ")"
	}
	return text + "; run: " + e.Command
}
