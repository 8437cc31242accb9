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

// accessKeys says what each key of the access block sets.
var accessKeys = map[string]func(f *file, o *callers.Options, v hujson.Value, path string){
	"issuer":        func(f *file, o *callers.Options, v hujson.Value, path string) { o.Issuer = f.variable(v, path) },
	"resource":      func(f *file, o *callers.Options, v hujson.Value, path string) { o.Resource = f.variable(v, path) },
	"audience":      (*file).accessAudience,
	"scopes":        func(f *file, o *callers.Options, v hujson.Value, path string) { o.Scopes = f.texts(v, path) },
	"profiles":      (*file).accessProfiles,
	"introspection": (*file).accessIntrospection,
}

// introspectionKeys says what each key of the introspection sets.
var introspectionKeys = map[string]func(i *callers.Introspection) *string{
	"endpoint":     func(i *callers.Introspection) *string { return &i.Endpoint },
	"clientId":     func(i *callers.Introspection) *string { return &i.ClientID },
	"clientSecret": func(i *callers.Introspection) *string { return &i.ClientSecret },
}

// access reads {"issuer": …, "resource": …, "scopes": […], …}.
func (f *file) access(v hujson.Value, path string) {
	o, before := &callers.Options{}, len(f.problems)
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
	if err := o.Check(); err != nil && f.vars != nil {
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

func (f *file) accessAudience(o *callers.Options, v hujson.Value, path string) {
	if v.Value.Kind() == '"' {
		o.Audience = []string{f.variable(v, path)}
		return
	}
	f.each(v, path, func(v hujson.Value, path string) { o.Audience = append(o.Audience, f.variable(v, path)) })
}

func (f *file) accessProfiles(o *callers.Options, v hujson.Value, path string) {
	f.members(v, path, func(m *hujson.ObjectMember) {
		profile := f.text(m.Value, path+"."+key(m))
		f.scoped = append(f.scoped, namedProfile{profile, m.Value.StartOffset})
		o.Profiles = append(o.Profiles, callers.ScopeProfile{Scope: key(m), Profile: profile})
	})
}

func (f *file) accessIntrospection(o *callers.Options, v hujson.Value, path string) {
	o.Introspection = &callers.Introspection{}
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
func describeAccess(o *callers.Options) Description {
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
