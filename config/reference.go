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

// A Resolver reads the secret of a reference. Nil reads none: a value with a reference is an
// error.
type Resolver func(ctx context.Context, r Reference) (secret string, err error)

// Value replaces the references of a value of [Server].Env, Headers or Args, or of a
// credential, with their secrets, which it also returns.
func (read Resolver) Value(ctx context.Context, value string) (resolved string, secrets []string, err error) {
	if !refers(value) {
		return value, nil, nil
	}
	if read == nil {
		read = func(context.Context, Reference) (string, error) {
			return "", errors.New("this program reads no secrets; set Options.Resolve of package gateway")
		}
	}
	parts := strings.Split(value, mark)
	for i := 1; i < len(parts); i += 2 {
		r := unmark(parts[i])
		secret, failed := read(ctx, r)
		if failed == nil && refers(secret) {
			failed = errors.New("it contains a NUL character; keep a text without one")
		}
		if failed != nil && err == nil {
			err = fmt.Errorf("%s: %w", r, failed)
		}
		parts[i], secrets = secret, append(secrets, secret)
	}
	if err != nil {
		return "", nil, err
	}
	return strings.Join(parts, ""), secrets, nil
}

// References returns the references in what the server is started with.
func (s *Server) References() (all []Reference) {
	collect := Resolver(func(_ context.Context, r Reference) (string, error) { all = append(all, r); return "", nil })
	ctx := context.Background() // nothing is read
	_, _ = s.Resolve(ctx, collect)
	if s.Source != nil {
		c := s.Source.credentials()
		for _, text := range c.Texts() {
			_ = collect.replace(ctx, text, "")
		}
	}
	return all
}

// Resolve returns s with what its arguments, variables and headers refer to, and its login;
// see ResolveLogin. A Source resolves its values itself, when it needs them.
func (s *Server) Resolve(ctx context.Context, resolve Resolver) (*Server, error) {
	c := *s
	c.Args, c.Env, c.Headers = slices.Clone(s.Args), maps.Clone(s.Env), maps.Clone(s.Headers)
	for i := range c.Args {
		if err := resolve.replace(ctx, &c.Args[i], "its arguments"); err != nil {
			return nil, err
		}
	}
	if err := resolve.replaceAll(ctx, c.Env, "its variable "); err != nil {
		return nil, err
	}
	if err := resolve.replaceAll(ctx, c.Headers, "its header "); err != nil {
		return nil, err
	}
	return c.ResolveLogin(ctx, resolve)
}

// ResolveLogin returns s with the client of its login and the secret of that. The subject
// token of an exchange is read each time it is needed, because it expires.
func (s *Server) ResolveLogin(ctx context.Context, resolve Resolver) (*Server, error) {
	if s.Auth == nil {
		return s, nil
	}
	c, auth := *s, *s.Auth
	c.Auth = &auth
	x := &auth.Exchange
	if x.Subject == nil && x.SubjectToken != "" {
		x.Subject = func(ctx context.Context) (string, error) {
			token, _, err := resolve.Value(ctx, s.Auth.Exchange.SubjectToken)
			return token, err
		}
	}
	for _, part := range []struct {
		text *string
		what string
	}{
		{&auth.ClientID, "the client of its login"}, {&auth.ClientSecret, "the secret of its login"},
		{&x.ClientID, "the client of its token exchange"}, {&x.ClientSecret, "the secret of its token exchange"},
	} {
		if err := resolve.replace(ctx, part.text, part.what); err != nil {
			return nil, err
		}
	}
	return &c, nil
}

// replace replaces the references in a text. What the text is begins its error.
func (read Resolver) replace(ctx context.Context, text *string, what string) error {
	resolved, _, err := read.Value(ctx, *text)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	*text = resolved
	return nil
}

// replaceAll replaces the references in the values of a table.
func (read Resolver) replaceAll(ctx context.Context, table map[string]string, what string) error {
	for _, name := range slices.Sorted(maps.Keys(table)) {
		text := table[name]
		if err := read.replace(ctx, &text, what+name); err != nil {
			return err
		}
		table[name] = text
	}
	return nil
}

// ResolveCallers returns c with the tokens of profiles and the secret with which the
// authorization server is asked. A profile without its token has the error.
func (c *Config) ResolveCallers(ctx context.Context, resolve Resolver) (*Config, error) {
	n := *c
	n.Profiles = slices.Clone(c.Profiles)
	for i := range n.Profiles {
		p := &n.Profiles[i]
		if !refers(p.Token) {
			continue
		}
		token, _, err := resolve.Value(ctx, p.Token)
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
		resolved, _, err := resolve.Value(ctx, *of(&introspection))
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
