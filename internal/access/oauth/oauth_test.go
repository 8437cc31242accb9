package oauth_test

import (
	"testing"

	"github.com/toolpost/toolpost/internal/access/oauth"
)

func TestMetadataAddress(t *testing.T) {
	for server, want := range map[string]string{
		"https://a.example":          "https://a.example/.well-known/openid-configuration",
		"https://a.example/":         "https://a.example/.well-known/openid-configuration",
		"https://a.example/b/c/":     "https://a.example/.well-known/openid-configuration/b/c",
		"https://a.example/mcp?x=y#": "https://a.example/.well-known/openid-configuration/mcp",
		"https://a.example/a%2Fb/":   "https://a.example/.well-known/openid-configuration/a%2Fb",
		"http://[":                   "",
	} {
		if got := oauth.MetadataAddress(server, oauth.OpenID); got != want {
			t.Errorf("%s: got %s, want %s", server, got, want)
		}
	}
}
