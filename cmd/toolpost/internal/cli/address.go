package cli

import (
	"net/url"
	"strings"
)

// IsAddress reports whether an argument is the address of a server over HTTP.
func IsAddress(s string) bool {
	return (strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")) && !strings.ContainsAny(s, " \t\n")
}

// WithoutSecrets returns an address without what may be a secret in it.
func WithoutSecrets(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
