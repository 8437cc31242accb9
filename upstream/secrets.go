package upstream

import (
	"cmp"
	"context"
	"encoding/base64"
	"log/slog"
	"net/url"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/wire"
)

// secretsOf returns what takes the secrets of a configuration out of a text.
func secretsOf(cfg *Config) *strings.Replacer {
	const shortest = 6 // shorter values are flags, and would be found everywhere
	var secrets []string
	add := func(all ...string) {
		for _, s := range all {
			if len(s) >= shortest && s != "Bearer" {
				secrets = append(append(secrets, s, url.QueryEscape(s), url.PathEscape(s), inJSON(s)), linesOf(s)...)
			}
		}
	}
	collect := func(s string) string {
		decoded, _ := url.PathUnescape(s)
		for _, s := range []string{s, decoded} {
			add(s)
			if _, after, ok := strings.Cut(s, ":"); ok { // a header, or a user with a password
				add(basic(s)...)
				s = strings.TrimSpace(after)
				add(s)
			}
			if scheme, token, ok := strings.Cut(s, " "); ok && slices.Contains([]string{"bearer", "basic", "token"}, strings.ToLower(scheme)) {
				add(token)
			}
		}
		return ""
	}
	for _, v := range cfg.Headers {
		add(v)
		add(strings.Fields(v)...)
		add(decodedBasic(v)...)
	}
	for _, v := range cfg.Env {
		add(v)
	}
	RedactArgs(cfg.Args, collect)
	RedactURL(cfg.URL, collect)
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var pairs []string
	for _, s := range secrets {
		pairs = append(pairs, s, "[hidden]")
	}
	return strings.NewReplacer(pairs...)
}

// inJSON returns a text as it is inside of a JSON string.
func inJSON(s string) string {
	quoted := wire.Quote(s)
	return string(quoted[1 : len(quoted)-1])
}

// linesOf returns the long lines of a text that has several, such as a private
// key: the log of a server has each line in a record of its own.
func linesOf(s string) (lines []string) {
	const shortest = 16
	if !strings.Contains(s, "\n") {
		return nil
	}
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); len(line) >= shortest && !strings.HasPrefix(line, "-----") {
			lines = append(lines, line)
		}
	}
	return lines
}

// basic returns a user and a password, with a colon between, as HTTP sends them.
func basic(credentials string) []string {
	standard, forURLs := base64.StdEncoding.EncodeToString([]byte(credentials)), base64.URLEncoding.EncodeToString([]byte(credentials))
	return []string{standard, strings.TrimRight(standard, "="), forURLs, strings.TrimRight(forURLs, "=")}
}

// decodedBasic returns what a header with Basic credentials says in clear.
func decodedBasic(header string) []string {
	scheme, token, _ := strings.Cut(strings.TrimSpace(header), " ")
	credentials, err := base64.StdEncoding.DecodeString(strings.TrimSpace(token))
	if !strings.EqualFold(scheme, "Basic") || err != nil {
		return nil
	}
	_, password, _ := strings.Cut(string(credentials), ":")
	return []string{string(credentials), password}
}

// A hider takes secrets out of what is logged.
type hider struct {
	slog.Handler
	secrets *strings.Replacer
}

// Handle logs r without secrets.
func (h *hider) Handle(ctx context.Context, r slog.Record) error {
	clean := slog.NewRecord(r.Time, r.Level, h.secrets.Replace(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.clean(a))
		return true
	})
	return h.Handler.Handle(ctx, clean)
}

func (h *hider) clean(a slog.Attr) slog.Attr {
	a.Value = a.Value.Resolve()
	err, isError := a.Value.Any().(error)
	switch {
	case a.Value.Kind() == slog.KindString:
		a.Value = slog.StringValue(h.secrets.Replace(a.Value.String()))
	case isError:
		a.Value = slog.StringValue(h.secrets.Replace(err.Error()))
	}
	return a
}

// WithAttrs keeps hiding.
func (h *hider) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.clean(a)
	}
	return &hider{h.Handler.WithAttrs(clean), h.secrets}
}

// WithGroup keeps hiding.
func (h *hider) WithGroup(name string) slog.Handler {
	return &hider{h.Handler.WithGroup(name), h.secrets}
}
