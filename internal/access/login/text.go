package login

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/httpconn"
	"github.com/toolpost/toolpost/internal/secret"
)

// longestText bounds texts of servers in errors and tables.
const longestText = 200

// clipLine makes a text of a server one short line.
func clipLine(text string) string {
	text = strings.Join(strings.Fields(cleartext.Clean(strings.ToValidUTF8(text, "\uFFFD"))), " ")
	if r := []rune(text); len(r) > longestText {
		text = string(r[:longestText]) + "…"
	}
	return text
}

const maxScopes, longestScope = 64, 256

// cleanScopes returns the scopes that may be sent (RFC 6749, §3.3), each once.
func cleanScopes(scopes []string) (clean []string) {
	for _, s := range scopes {
		bad := strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' })
		if !bad && s != "" && len(s) <= longestScope && len(clean) < maxScopes && !slices.Contains(clean, s) {
			clean = append(clean, s)
		}
	}
	return clean
}

// A grantError is an error that an authorization server answered.
type grantError struct{ code, text string }

func (e *grantError) Error() string {
	if e.text == "" {
		return "the authorization server answers " + e.code
	}
	return fmt.Sprintf("the authorization server answers %s: %s", e.code, e.text)
}

// final reports whether the same request will never succeed.
func (e *grantError) final() bool {
	return slices.Contains([]string{"invalid_grant", "invalid_client", "unauthorized_client", "unsupported_grant_type", "invalid_scope", "invalid_target"}, e.code)
}

// cleanError returns the error of a request to an authorization server, without the
// body of its answer and without secrets.
func cleanError(err error, endpoint string, secrets ...string) error {
	hide := secret.Replacer("[hidden]", secrets...)
	if answer, ok := errors.AsType[*grantError](err); ok {
		return &grantError{clipLine(hide.Replace(answer.code)), clipLine(hide.Replace(answer.text))}
	}
	host := "its address"
	if u, e := url.Parse(endpoint); e == nil {
		host = u.Host
	}
	if errors.Is(err, errRefused) {
		return fmt.Errorf("ask the authorization server %s: %w", clipLine(host), httpconn.WithoutURL(err))
	}
	return fmt.Errorf("ask the authorization server %s: %s", clipLine(host), clipLine(hide.Replace(httpconn.WithoutURL(err).Error())))
}
