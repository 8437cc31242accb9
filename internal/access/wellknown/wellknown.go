// Package wellknown returns where servers describe themselves for OAuth.
package wellknown

import (
	"net/url"
	"strings"
)

// The paths of the documents at the root of a server.
const (
	ProtectedResource   = "/.well-known/oauth-protected-resource"   // RFC 9728
	AuthorizationServer = "/.well-known/oauth-authorization-server" // RFC 8414
	OpenID              = "/.well-known/openid-configuration"       // OpenID Connect Discovery
)

// Address returns the address of a document of a server, "" if the address of the
// server is malformed. The path of the server, without a slash at its end, follows that of
// the document (RFC 8414, §3.1).
func Address(server, document string) string {
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
