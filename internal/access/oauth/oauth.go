// Package oauth has what the clients and servers of OAuth here share: where servers describe
// themselves, and the parameters that a login depends on.
package oauth

import (
	"net/url"
	"slices"
	"strings"
)

// The paths of the documents at the root of a server.
const (
	ProtectedResource   = "/.well-known/oauth-protected-resource"   // RFC 9728
	AuthorizationServer = "/.well-known/oauth-authorization-server" // RFC 8414
	OpenID              = "/.well-known/openid-configuration"       // OpenID Connect Discovery
)

// Types of logins that need no user, as config.Auth has them. Without a type, the user logs in.
const (
	ClientCredentials = "client_credentials"
	TokenExchange     = "token_exchange"
	NoLogin           = "none"
)

// MetadataAddress returns the address of a document of a server, "" if the address of the
// server is malformed. The path of the server, without a slash at its end, follows that of
// the document (RFC 8414, §3.1).
func MetadataAddress(server, document string) string {
	u, err := url.Parse(server)
	if err != nil {
		return ""
	}
	u.RawQuery, u.Fragment, u.ForceQuery = "", "", false
	u.RawPath = document + strings.TrimSuffix(u.EscapedPath(), "/")
	if u.Path, err = url.PathUnescape(u.RawPath); err != nil {
		return ""
	}
	return u.String()
}

// reservedParameters are those of OAuth that a login depends on: they are set by Toolpost,
// name who asks or what for, or replace the others.
var reservedParameters = strings.Fields(`response_type response_mode client_id client_secret client_assertion
	client_assertion_type redirect_uri scope state code code_challenge code_challenge_method code_verifier resource
	request request_uri grant_type refresh_token assertion subject_token subject_token_type actor_token
	actor_token_type requested_token_type username password iss error access_token`)

// IsReserved reports whether a configuration cannot add a parameter to the requests of a
// login, because the login depends on it.
func IsReserved(name string) bool {
	return slices.ContainsFunc(reservedParameters, func(reserved string) bool { return strings.EqualFold(reserved, strings.TrimSpace(name)) })
}
