package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/internal/secret"
)

// A Description shows a person everything that a server of a
// configuration runs, contacts and sends, so that the person can approve it.
// Nothing is shortened, and no character is invisible or controls the terminal.
// Variables are shown as they are written, such as ${TOKEN}; only values that
// are probably secrets are left out.
type Description struct {
	Name   string
	Lines  []string
	Digest string // changes if the server's entry or its environment file changes

	variables []string // of the environment that the entry reads
}

// Describe describes every server of a configuration that [Load] has
// read, in the order of the file, and the authorization server.
func (c *Config) Describe() []Description {
	if c.source == nil {
		return nil
	}
	written, err := Parse(c.source.name, c.source.data, nil)
	if err != nil {
		return nil // Load has read it without an error
	}
	var all []Description
	for i := range written.Servers {
		server := &written.Servers[i]
		all = append(all, describe(server, c.environments[server.Name]))
	}
	if written.Access != nil {
		all = append(all, describeAccess(written.Access))
	}
	for i := range written.Profiles {
		if d := describeProfile(&written.Profiles[i]); len(d.Lines) > 0 {
			all = append(all, d)
		}
	}
	return all
}

// describe describes a server whose variables are not expanded, and what its file of
// variables holds.
func describe(s *Server, e *environment) Description {
	d := &description{}
	if s.Command != "" {
		d.add("runs", strings.Join(mapAll(append([]string{s.Command}, s.Args...), visible), " "))
		d.note(s.Command)
		d.note(s.Args...)
	}
	d.text("in folder", s.Dir)
	if s.Source == nil && s.URL != "" {
		d.add("contacts", visibleAddress(s.URL))
		d.note(s.URL)
	}
	d.credentials(s)
	d.auth(s.Auth)
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		d.add("variable", visible(name)+"="+visibleValue(name, s.Env[name]))
		d.note(s.Env[name])
	}
	d.environment(s, e)
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		value := notShown // nothing runs it
		if strings.Contains(s.Headers[name], "${") {
			value = visible(s.Headers[name])
		}
		d.add("header", visible(name)+": "+value)
		d.note(s.Headers[name])
	}
	if len(d.variables) > 0 {
		slices.Sort(d.variables)
		d.add("reads", "from your environment: "+strings.Join(slices.Compact(d.variables), ", "))
	}
	d.tools(&s.Tools)
	if s.Unpinned {
		d.add("unpinned", "it may change the descriptions of its tools without your approval")
	}
	if s.Disabled {
		d.add("disabled", "it is not started now")
	}
	if s.Err != nil {
		d.add("invalid", "it is not started until the entry is corrected")
	}
	return Description{Name: visible(s.Name), Lines: d.lines, Digest: s.digest(e), variables: d.variables}
}

// describeProfile describes what a profile serves under other names and descriptions,
// and what runs for its token.
func describeProfile(p *Profile) Description {
	d := &description{}
	d.note(p.Token)
	d.tools(&p.Tools)
	if len(d.lines) == 0 {
		return Description{}
	}
	digest := sha256.Sum256(fmt.Appendf(nil, "%s\n%s", p.Token, strings.Join(d.lines, "\n")))
	return Description{Name: visible("(profile " + p.Name + ")"), Lines: d.lines, Digest: hex.EncodeToString(digest[:]), variables: d.variables}
}

// digest identifies the entry as it is written, with its environment file.
func (s *Server) digest(e *environment) string {
	h := sha256.New()
	raw, err := json.Marshal(s)
	_, _ = fmt.Fprintf(h, "%d %s %v %s", len(raw), raw, err, s.EnvFile)
	e.hash(h)
	return hex.EncodeToString(h.Sum(nil))
}

// A description is a Description in the making.
type description struct {
	lines     []string
	variables []string // of the user's environment that the entry reads
}

func (d *description) add(label, text string) {
	d.lines = append(d.lines, fmt.Sprintf("%-9s  %s", label, text))
}

func (d *description) text(label, value string) {
	if value != "" {
		d.add(label, visible(value))
		d.note(value)
	}
}

// note records the environment variables that the values refer to.
func (d *description) note(values ...string) {
	v := &variables{
		env: func(name string) (string, bool) {
			d.variables = append(d.variables, name)
			return "", false
		},
		note: func(r Reference) {
			if r.Kind == "cmd" {
				d.add("runs", visible(r.Of)+" for a secret")
			}
		},
	}
	for _, value := range values {
		v.expand(value, 0, func(string) {})
	}
}

// environment shows the file of environment variables and what it sets.
func (d *description) environment(s *Server, e *environment) {
	d.text("env file", s.EnvFile)
	if e == nil {
		return
	}
	if e.err != nil {
		d.add("", "which cannot be read")
	}
	for _, name := range slices.Sorted(maps.Keys(e.values)) {
		d.add("", "sets "+visible(name)+"="+visibleValue(name, e.values[name]))
	}
}

// credentials shows how a server is reached whose tools run in the program.
func (d *description) credentials(s *Server) {
	o := s.Source
	if o == nil {
		return
	}
	d.add("contacts", visibleAddress(o.URL)+" ("+s.Product()+")")
	d.note(o.URL)
	for _, c := range [][2]string{{"apiKey", o.Key}, {"user", o.User}, {"password", o.Password}, {"token", o.Token}, {"as", o.As}} {
		if c[1] != "" {
			d.add("sends", c[0]+"="+visibleValue(c[0], c[1]))
			d.note(c[1])
		}
	}
}

// auth shows how a server is logged in to.
func (d *description) auth(a *Auth) {
	if a == nil {
		return
	}
	parts := [][2]string{{"type", a.Type}, {"clientId", a.ClientID}, {"clientSecret", a.ClientSecret}, {"clientMetadataUrl", a.ClientMetadataURL}, {"scopes", strings.Join(a.Scopes, " ")}, {"issuer", a.Issuer}, {"resource", a.Resource}, {"pkce", a.PKCE}}
	if a.OmitResource {
		parts = append(parts, [2]string{"resource", "false"})
	}
	for _, name := range slices.Sorted(maps.Keys(a.Parameters)) {
		parts = append(parts, [2]string{"parameters." + name, a.Parameters[name]})
	}
	for _, part := range append(parts, describeExchange(&a.Exchange)...) {
		if part[1] != "" {
			d.add("logs in", part[0]+"="+visibleValue(part[0], part[1]))
			d.note(part[1])
		}
	}
}

const notShown = "(not shown)"

// Values with these characters are shown even if they look like secrets:
// programs might run them.
const runnable = " \t\r\n;|&`$<>(){}'\"\\"

// loads matches names of variables that make programs run something, although
// they look like names of secrets.
var loads = lazyregexp.New(`(?i)askpass|^git_config`)

// scheme matches what stands before the secret in the value of an Authorization header.
var scheme = lazyregexp.New(`^(?i)(bearer|basic|token) `)

// visibleValue returns the value of a variable in the form for a person. Only
// the name decides whether it is a secret: BASH_ENV could name a script that
// looks like a token.
func visibleValue(name, value string) string {
	bare := scheme.ReplaceAllString(value, "")
	hidden := bare != "" && secret.Is(name, "") && !loads.MatchString(name) &&
		!strings.ContainsAny(bare, runnable) && !strings.ContainsAny(bare[:1], "./~")
	if hidden {
		return notShown
	}
	return visible(value)
}

// visibleAddress returns an address in full but for a password and the secrets
// of its query.
func visibleAddress(address string) string {
	scheme, rest, found := strings.Cut(address, "://")
	if !found {
		return visible(address)
	}
	end := strings.IndexAny(rest, `/?#\`)
	if end < 0 {
		end = len(rest)
	}
	authority, rest := rest[:end], rest[end:]
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		user, password, found := strings.Cut(authority[:at], ":")
		switch {
		case found && !strings.Contains(password, "${"):
			authority = user + ":" + notShown + authority[at:]
		case !found && secret.Is("", user):
			authority = notShown + authority[at:]
		}
	}
	path, query, asked := strings.Cut(rest, "?")
	if asked {
		pairs := strings.Split(query, "&")
		for i, pair := range pairs {
			if name, value, found := strings.Cut(pair, "="); found && secret.Is(name, value) && !strings.Contains(value, "${") {
				pairs[i] = name + "=" + notShown
			}
		}
		path += "?" + strings.Join(pairs, "&")
	}
	return visible(scheme + "://" + authority + path)
}

// plain matches what is shown without quotes.
var plain = lazyregexp.New(`^[A-Za-z0-9_@%+=:,./$~?&#!*^-]+$`)

// visible returns s so that every character of it can be seen: in quotes, with
// escapes as in Go, if it is more than a plain word.
func visible(s string) string {
	bare := strings.NewReplacer("{", "", "}", "").Replace(s)
	if plain.MatchString(bare) {
		return s
	}
	return `"` + cleartext.Escape(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)) + `"`
}

func mapAll[T any](all []T, f func(T) string) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = f(s)
	}
	return out
}

// Variables lists the environment variables that the entries of a configuration
// refer to.
func (c *Config) Variables() []string {
	var names []string
	for _, d := range c.Describe() {
		names = append(names, d.variables...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
