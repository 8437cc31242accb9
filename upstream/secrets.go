package upstream

import (
	"context"
	"encoding/base64"
	"log/slog"
	"net/url"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/secret"
)

// secretsOf returns the secrets of a configuration.
func secretsOf(cfg *Config) *secret.Values {
	return secret.NewValues("[hidden]", cfg.everything()...)
}

// everything returns all that may be secret.
func (c *Config) everything() []string {
	return c.values(func(string, string) bool { return true })
}

// Secrets returns the values of c that are probably secret, in all the forms that a
// server may repeat: of headers, variables, arguments and the address.
func (c *Config) Secrets() []string { return c.values(secret.Is) }

// values returns the values of the headers and variables that use selects, and the
// secrets of the arguments and the address.
func (c *Config) values(use func(name, value string) bool) []string {
	var secrets []string
	for name, v := range c.Headers {
		if use(name, v) {
			secrets = append(append(secrets, v), strings.Fields(v)...)
			secrets = append(secrets, decodedBasic(v)...)
		}
	}
	for name, v := range c.Env {
		if use(name, v) {
			secrets = append(secrets, v)
		}
	}
	if c.Auth != nil {
		secrets = append(secrets, c.Auth.ClientSecret, c.Auth.Exchange.ClientSecret, c.Auth.Exchange.SubjectToken)
	}
	for _, s := range append(secret.InArgs(c.Args), secret.InURL(c.URL)...) {
		decoded, _ := url.PathUnescape(s)
		for _, s := range []string{s, decoded} {
			secrets = append(secrets, s)
			if _, after, ok := strings.Cut(s, ":"); ok { // a header, or a user with a password
				secrets = append(secrets, basic(s)...)
				s = strings.TrimSpace(after)
				secrets = append(secrets, s)
			}
			if scheme, token, ok := strings.Cut(s, " "); ok && slices.Contains([]string{"bearer", "basic", "token"}, strings.ToLower(scheme)) {
				secrets = append(secrets, token)
			}
		}
	}
	return slices.DeleteFunc(secrets, func(s string) bool { return s == "Bearer" })
}

// basic returns a user and a password, with a colon between, as HTTP sends them.
func basic(credentials string) []string {
	standard, forURLs := base64.StdEncoding.EncodeToString([]byte(credentials)), base64.URLEncoding.EncodeToString([]byte(credentials))
	return []string{standard, strings.TrimRight(standard, "="), forURLs, strings.TrimRight(forURLs, "=")}
}

// decodedBasic returns the credentials of a header with Basic authentication.
func decodedBasic(header string) []string {
	scheme, token, _ := strings.Cut(strings.TrimSpace(header), " ")
	credentials, err := base64.StdEncoding.DecodeString(strings.TrimSpace(token))
	if !strings.EqualFold(scheme, "Basic") || err != nil {
		return nil
	}
	_, password, _ := strings.Cut(string(credentials), ":")
	return []string{string(credentials), password}
}

// A redactor is a log handler that hides secrets.
type redactor struct {
	slog.Handler
	secrets *secret.Values
}

// Handle logs r without secrets.
func (h *redactor) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, h.secrets.Replace(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.clean(a))
		return true
	})
	return h.Handler.Handle(ctx, clean)
}

func (h *redactor) clean(a slog.Attr) slog.Attr {
	a.Value = a.Value.Resolve()
	if err, isError := a.Value.Any().(error); isError {
		a.Value = slog.StringValue(err.Error())
	}
	if a.Value.Kind() == slog.KindString {
		a.Value = slog.StringValue(h.secrets.Replace(a.Value.String()))
	}
	return a
}

// WithAttrs hides secrets in the attributes too.
func (h *redactor) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.clean(a)
	}
	return &redactor{h.Handler.WithAttrs(clean), h.secrets}
}

// WithGroup goes on hiding secrets.
func (h *redactor) WithGroup(name string) slog.Handler {
	return &redactor{h.Handler.WithGroup(name), h.secrets}
}
