package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/internal/access/callers"
)

// A Reference is a secret that is not in the file: ${file:PATH}, ${keyring:NAME} or
// ${cmd:COMMAND}. Nothing is read or run before the server that needs it starts, so
// that a file that the user has not approved does neither.
type Reference struct {
	Kind   string // one of file, keyring and cmd
	Of     string // a path, absolute if the file's is known; a name; or a command line
	Folder string // in which a command runs: that of the configuration
}

// String returns the reference as it is written.
func (r Reference) String() string { return "${" + r.Kind + ":" + r.Of + "}" }

var referenceKinds = []string{"file", "keyring", "cmd"}

// A mark stands for a reference in a value that was read. Nothing else that a file or
// a variable contains has this character.
const mark = "\x00"

// placeholder returns the mark of a reference. A folder is quoted, as it may have any
// character.
func (r Reference) placeholder() string {
	return mark + r.Kind + ":" + strconv.Quote(r.Folder) + r.Of + mark
}

// unmark reads what stands between two marks.
func unmark(text string) Reference {
	kind, rest, _ := strings.Cut(text, ":")
	quoted, _ := strconv.QuotedPrefix(rest)
	folder, _ := strconv.Unquote(quoted)
	return Reference{Kind: kind, Of: rest[len(quoted):], Folder: folder}
}

func refers(text string) bool { return strings.Contains(text, mark) }

// refer returns the mark of what stands between braces, if it is a reference.
func (v *variables) refer(inner string, depth int, fail func(why string)) (marked string, ok bool) {
	kind, of, found := strings.Cut(inner, ":")
	if !found || !slices.Contains(referenceKinds, kind) {
		return "", false
	}
	if kind != "cmd" { // a shell has variables of its own
		of = v.expand(of, depth+1, fail)
	}
	of = strings.TrimSpace(of)
	switch {
	case of == "" || refers(of):
		fail(fmt.Sprintf("${%s:…} names nothing; write a %s after the colon", kind, map[string]string{"file": "path", "keyring": "name", "cmd": "command"}[kind]))
		return "", true
	case kind == "file":
		if rest, home := strings.CutPrefix(of, "~"+string(filepath.Separator)); home {
			folder, _ := v.place("userHome")
			of = filepath.Join(folder, rest)
		}
		if !filepath.IsAbs(of) {
			of = filepath.Join(v.folder, of)
		}
	}
	r := Reference{Kind: kind, Of: of}
	if kind == "cmd" {
		r.Folder = v.folder
	}
	if v.note != nil {
		v.note(r)
	}
	return r.placeholder(), true
}

// resolve replaces the references of a text with their secrets, which read reads. Nil reads
// none: a text with a reference is an error.
func resolve(ctx context.Context, read func(context.Context, Reference) (string, error), text string) (string, error) {
	if !refers(text) {
		return text, nil
	}
	if read == nil {
		read = func(context.Context, Reference) (string, error) {
			return "", errors.New("this program reads no secrets; set Options.Resolve of package gateway")
		}
	}
	var err error
	parts := strings.Split(text, mark)
	for i := 1; i < len(parts); i += 2 {
		r := unmark(parts[i])
		secret, failed := read(ctx, r)
		if failed == nil && refers(secret) {
			failed = errors.New("it contains a NUL character; keep a text without one")
		}
		if failed != nil && err == nil {
			err = fmt.Errorf("%s: %w", r, failed)
		}
		parts[i] = secret
	}
	if err != nil {
		return "", err
	}
	return strings.Join(parts, ""), nil
}

// References returns the references in what the server is started with.
func (s *Server) References() (all []Reference) {
	collect := func(_ context.Context, r Reference) (string, error) { all = append(all, r); return "", nil }
	ctx := context.Background() // nothing is read
	_, _ = s.Resolve(ctx, collect)
	if s.Source != nil {
		c := s.Source.credentials()
		for _, text := range c.Texts() {
			_, _ = resolve(ctx, collect, *text)
		}
	}
	return all
}

// Resolve returns s with what its arguments, variables, headers and login refer to; read
// returns the secret of a reference. What is used later than the connection is read then: the
// credentials of a Source, and the subject token of a login, which expires.
func (s *Server) Resolve(ctx context.Context, read func(context.Context, Reference) (string, error)) (*Server, error) {
	login, err := s.ResolveLogin(ctx, read)
	if err != nil {
		return nil, err
	}
	c := *login
	c.Args, c.Env, c.Headers = slices.Clone(s.Args), maps.Clone(s.Env), maps.Clone(s.Headers)
	for i, text := range c.Args {
		if c.Args[i], err = resolve(ctx, read, text); err != nil {
			return nil, fmt.Errorf("its arguments: %w", err)
		}
	}
	for _, table := range []struct {
		values map[string]string
		kind   string
	}{{c.Env, "variable"}, {c.Headers, "header"}} {
		for _, name := range slices.Sorted(maps.Keys(table.values)) {
			if table.values[name], err = resolve(ctx, read, table.values[name]); err != nil {
				return nil, fmt.Errorf("its %s %s: %w", table.kind, name, err)
			}
		}
	}
	if s.Source != nil && s.Source.Resolve == nil {
		o := *s.Source
		o.Resolve = func(ctx context.Context, text string) (string, error) { return resolve(ctx, read, text) }
		c.Source = &o
	}
	return &c, nil
}

// ResolveLogin returns s with what its login refers to, as Resolve does.
func (s *Server) ResolveLogin(ctx context.Context, read func(context.Context, Reference) (string, error)) (*Server, error) {
	if s.Auth == nil {
		return s, nil
	}
	c, auth := *s, *s.Auth
	c.Auth = &auth
	x := &auth.Exchange
	if x.Subject == nil && x.SubjectToken != "" {
		token := x.SubjectToken
		x.Subject = func(ctx context.Context) (string, error) { return resolve(ctx, read, token) }
	}
	for _, part := range []struct {
		text *string
		what string
	}{
		{&auth.ClientID, "the client of its login"}, {&auth.ClientSecret, "the secret of its login"},
		{&x.ClientID, "the client of its token exchange"}, {&x.ClientSecret, "the secret of its token exchange"},
	} {
		var err error
		if *part.text, err = resolve(ctx, read, *part.text); err != nil {
			return nil, fmt.Errorf("%s: %w", part.what, err)
		}
	}
	return &c, nil
}

// ResolveCallers returns c with the tokens of profiles and the secret with which the
// authorization server is asked; read returns the secret of a reference. A profile without
// its token has the error.
func (c *Config) ResolveCallers(ctx context.Context, read func(context.Context, Reference) (string, error)) (*Config, error) {
	n := *c
	n.Profiles = slices.Clone(c.Profiles)
	for i := range n.Profiles {
		p := &n.Profiles[i]
		if !refers(p.Token) {
			continue
		}
		token, err := resolve(ctx, read, p.Token)
		if err == nil {
			if err = callers.CheckToken(token); err != nil {
				err = fmt.Errorf("its token %w", err)
			}
		}
		if p.Token = token; err != nil {
			p.Token, p.Err = "", cmp.Or(p.Err, fmt.Errorf("profile %q: %w", p.Name, err))
		}
	}
	if c.Access == nil || c.Access.Introspection == nil {
		return &n, nil
	}
	access, introspection := *c.Access, *c.Access.Introspection
	access.Introspection, n.Access = &introspection, &access
	for _, of := range []func(*Introspection) *string{introspectionKeys["clientId"], introspectionKeys["clientSecret"]} {
		resolved, err := resolve(ctx, read, *of(&introspection))
		if err != nil {
			return nil, fmt.Errorf("access.introspection: %w", err)
		}
		*of(&introspection) = resolved
	}
	return &n, nil
}

// noReference reports a reference in a value that says where a server is.
func (e *entry) noReference(text string, v hujson.Value, path string) string {
	if refers(text) {
		e.fail(v.StartOffset, "%s cannot refer to a secret; use ${file:…}, ${keyring:…} and ${cmd:…} in env, headers, args and credentials", path)
		return ""
	}
	return text
}
