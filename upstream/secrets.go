package upstream

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/environ"
	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/internal/secret"
)

// secretsOf returns what is hidden in the errors and log lines of one server: known, and
// all that its configuration sends it, as a server may repeat it. Known learns what is
// probably secret.
func secretsOf(cfg *Config, known *secret.Values) *secret.Values {
	known.Add(cfg.Name, cfg.Secrets()...)
	return known.Extend(secret.Hidden, cfg.everything()...)
}

// everything returns all that may be secret.
func (c *Config) everything() []string { return c.values(mayBeSecret) }

// mayBeSecret reports whether the value of a variable or header may be a secret: all
// but paths, words without a digit, and the variables that every program gets. Errors
// name these often, and a model needs the name of a repository.
func mayBeSecret(name, value string) bool {
	return secret.Is(name, value) || strings.ContainsAny(value, "0123456789") && !isPath.MatchString(value) &&
		!environ.Matches(strings.Fields(environ.Common), name)
}

var isPath = lazyregexp.New(`^(/|~/|\.{1,2}/|[A-Za-z]:[\\/])[\w.~ /\\-]*$`)

// Secrets returns the values of c that are probably secret, in all the forms that a
// server may repeat: of headers, variables, arguments and the address.
func (c *Config) Secrets() []string { return c.values(secret.Is) }

// values returns the values of the headers and variables that use selects, and the
// secrets of the arguments and the address.
func (c *Config) values(use func(name, value string) bool) []string {
	var secrets []string
	for name, v := range c.Headers {
		if use(name, v) {
			words := strings.Fields(v)
			secrets = append(append(secrets, v), words[min(1, len(words)-1):]...) // the first of several is a scheme
			secrets = append(secrets, decodeBasic(v)...)
		}
	}
	for name, v := range c.Env {
		if use(name, v) {
			secrets = append(secrets, v)
		}
	}
	for _, s := range append(secret.InArgs(c.Args), secret.InURL(c.URL)...) {
		decoded, _ := url.PathUnescape(s)
		for _, s := range []string{s, decoded} {
			secrets = append(secrets, s)
			if _, after, ok := strings.Cut(s, ":"); ok { // a header, or a user with a password
				s = strings.TrimSpace(after)
				secrets = append(secrets, s)
			}
			if scheme, token, ok := strings.Cut(s, " "); ok && slices.Contains([]string{"bearer", "basic", "token"}, strings.ToLower(scheme)) {
				secrets = append(secrets, token)
			}
		}
	}
	return secrets
}

// decodeBasic returns the credentials of a header with Basic authentication.
func decodeBasic(header string) []string {
	scheme, token, _ := strings.Cut(strings.TrimSpace(header), " ")
	credentials, err := base64.StdEncoding.DecodeString(strings.TrimSpace(token))
	if !strings.EqualFold(scheme, "Basic") || err != nil {
		return nil
	}
	_, password, _ := strings.Cut(string(credentials), ":")
	return []string{string(credentials), password}
}
