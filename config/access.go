package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/internal/access/callers"
)

// An Access is the authorization server that callers log in at, and what their tokens
// must have.
type Access struct {
	Issuer   string                            // the address of the authorization server
	Resource string                            // the address of this server's /mcp, as clients use it; "" if only this machine calls
	Audience []string                          // what tokens must be for; by default Resource, or the address below it that is asked for
	Scopes   []string                          // that every token needs
	Profiles []struct{ Scope, Profile string } // if there are any, a token needs one of the scopes and gets its profile

	Introspection *Introspection // nil verifies tokens as JWTs
}

// An Introspection has the authorization server asked about each token (RFC 7662).
type Introspection struct {
	Endpoint     string // "" for that of the server's metadata
	ClientID     string
	ClientSecret string
}

// options returns a as package callers has it.
func (a *Access) options() *callers.Options {
	o := &callers.Options{Issuer: a.Issuer, Resource: a.Resource, Audience: a.Audience, Scopes: a.Scopes, Introspection: (*callers.Introspection)(a.Introspection)}
	for _, p := range a.Profiles {
		o.Profiles = append(o.Profiles, callers.ScopeProfile(p))
	}
	return o
}

// accessKeys says what each key of the access block sets.
var accessKeys = map[string]func(f *file, o *Access, v hujson.Value, path string){
	"issuer":        func(f *file, o *Access, v hujson.Value, path string) { o.Issuer = f.variable(v, path) },
	"resource":      func(f *file, o *Access, v hujson.Value, path string) { o.Resource = f.variable(v, path) },
	"audience":      (*file).accessAudience,
	"scopes":        func(f *file, o *Access, v hujson.Value, path string) { o.Scopes = f.texts(v, path) },
	"profiles":      (*file).accessProfiles,
	"introspection": (*file).accessIntrospection,
}

// introspectionKeys says what each key of the introspection sets.
var introspectionKeys = map[string]func(i *Introspection) *string{
	"endpoint":     func(i *Introspection) *string { return &i.Endpoint },
	"clientId":     func(i *Introspection) *string { return &i.ClientID },
	"clientSecret": func(i *Introspection) *string { return &i.ClientSecret },
}

// access reads {"issuer": …, "resource": …, "scopes": […], …}.
func (f *file) access(v hujson.Value, path string) {
	o, before := &Access{}, len(f.problems)
	f.members(v, path, func(m *hujson.ObjectMember) {
		name := key(m)
		set := accessKeys[name]
		if set == nil {
			f.unknown(m, path, slices.Sorted(maps.Keys(accessKeys)))
			return
		}
		set(f, o, m.Value, path+"."+name)
	})
	if len(f.problems) > before {
		return
	}
	if err := o.options().Check(); err != nil && f.vars != nil {
		f.fail(v.StartOffset, "%s: %v", path, err)
	}
	f.cfg.Access = o
}

// variable reads a text with variables. One that is not set is a mistake, because it
// decides who may call.
func (f *file) variable(v hujson.Value, path string) string {
	e := &entry{source: f.source, path: path, vars: f.vars}
	text := e.expand(f.text(v, path), v, path)
	for _, p := range e.unset {
		f.fail(v.StartOffset, "%s", p.Message)
	}
	if !strings.Contains(path, ".introspection.client") {
		text = e.noReference(text, v, path)
	}
	return text
}

func (f *file) accessAudience(o *Access, v hujson.Value, path string) {
	if v.Value.Kind() == '"' {
		o.Audience = []string{f.variable(v, path)}
		return
	}
	f.each(v, path, func(v hujson.Value, path string) { o.Audience = append(o.Audience, f.variable(v, path)) })
}

func (f *file) accessProfiles(o *Access, v hujson.Value, path string) {
	f.members(v, path, func(m *hujson.ObjectMember) {
		profile := f.text(m.Value, path+"."+key(m))
		f.scoped = append(f.scoped, namedProfile{profile, m.Value.StartOffset})
		o.Profiles = append(o.Profiles, struct{ Scope, Profile string }{key(m), profile})
	})
}

func (f *file) accessIntrospection(o *Access, v hujson.Value, path string) {
	o.Introspection = &Introspection{}
	f.members(v, path, func(m *hujson.ObjectMember) {
		name := key(m)
		of := introspectionKeys[name]
		if of == nil {
			f.unknown(m, path, slices.Sorted(maps.Keys(introspectionKeys)))
			return
		}
		*of(o.Introspection) = f.variable(m.Value, path+"."+name)
	})
}

// checkScopeProfiles checks that the profiles of scopes exist.
func (f *file) checkScopeProfiles() {
	for _, s := range f.scoped {
		if !slices.ContainsFunc(f.cfg.Profiles, func(p Profile) bool { return p.Name == s.name }) {
			f.fail(s.offset, "there is no profile %q; add it to profiles", s.name)
		}
	}
}

// describeAccess describes who is asked which callers may call.
func describeAccess(o *Access) Description {
	d := &description{}
	d.add("contacts", visibleAddress(o.Issuer))
	d.note(o.Issuer)
	if i := o.Introspection; i != nil {
		d.text("contacts", i.Endpoint)
		d.note(i.ClientID, i.ClientSecret)
	}
	if len(d.variables) > 0 {
		slices.Sort(d.variables)
		d.add("reads", "from your environment: "+strings.Join(slices.Compact(d.variables), ", "))
	}
	d.add("lets in", "callers who have a token of it for this server")
	digest := sha256.Sum256(fmt.Appendf(nil, "%+v %+v", *o, o.Introspection))
	return Description{Name: "(access)", Lines: d.lines, Digest: hex.EncodeToString(digest[:]), variables: d.variables}
}
