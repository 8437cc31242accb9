package config

import (
	"strings"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/internal/secret"
)

// PlainSecrets returns where a configuration file, whose content is data, holds
// what looks like a secret instead of a variable. Message is the path of the
// key, such as mcpServers.github.env.TOKEN; no value is returned.
func PlainSecrets(name string, data []byte) (all []Diagnostic) {
	s := newSource(name, data)
	root := s.root()
	if root == nil {
		return nil
	}
	for i := range root.Members {
		top := &root.Members[i]
		servers, ok := top.Value.Value.(*hujson.Object)
		if !ok || key(top) != "mcpServers" && key(top) != "servers" && key(top) != "profiles" {
			continue
		}
		for j := range servers.Members {
			name := key(&servers.Members[j])
			f := &secretFinder{source: s, server: name}
			if key(top) == "profiles" {
				f.server = ""
			}
			f.entry(&servers.Members[j], key(top)+"."+name)
			all = append(all, f.found...)
		}
	}
	return all
}

// A secretFinder looks for secrets in one entry.
type secretFinder struct {
	*source
	server string
	found  []Diagnostic
}

func (f *secretFinder) add(v hujson.Value, path string) {
	if len(f.found) == maxProblems {
		return
	}
	line, column := f.position(v.StartOffset)
	f.found = append(f.found, Diagnostic{Problem{line, column, path}, f.server, true})
}

// entry looks at the values that can hold a secret: those of variables and
// headers, arguments, addresses, and the credentials of a Redmine.
func (f *secretFinder) entry(m *hujson.ObjectMember, path string) {
	o, ok := m.Value.Value.(*hujson.Object)
	if !ok {
		return
	}
	for i := range o.Members {
		m := &o.Members[i]
		at := path + "." + key(m)
		switch name := key(m); name {
		case "env", "headers":
			f.table(m.Value, at)
		case "auth", "oauth":
			f.auth(m.Value, at)
		case "args":
			f.args(m.Value, at)
		case "url", "serverUrl", "httpUrl":
			if text := literal(m.Value); hasSecret(secret.InURL(text)) {
				f.add(m.Value, at)
			}
		default:
			if redmineKeys[name] != nil && isSecretNamed(name, literal(m.Value)) {
				f.add(m.Value, at)
			}
		}
	}
}

// auth looks at the secrets of a login, of its parameters and of its token exchange.
func (f *secretFinder) auth(v hujson.Value, path string) {
	f.table(v, path)
	if o, ok := v.Value.(*hujson.Object); ok {
		for i := range o.Members {
			if m := &o.Members[i]; key(m) == "exchange" || key(m) == "parameters" {
				f.table(m.Value, path+"."+key(m))
			}
		}
	}
}

func (f *secretFinder) table(v hujson.Value, path string) {
	o, ok := v.Value.(*hujson.Object)
	if !ok {
		return
	}
	for i := range o.Members {
		m := &o.Members[i]
		if isSecretNamed(key(m), scheme.ReplaceAllString(literal(m.Value), "")) {
			f.add(m.Value, path+"."+key(m))
		}
	}
}

func (f *secretFinder) args(v hujson.Value, path string) {
	a, ok := v.Value.(*hujson.Array)
	if !ok {
		return
	}
	var texts []string
	for _, e := range a.Elements {
		texts = append(texts, literal(e))
	}
	for _, found := range secret.InArgs(texts) {
		for i, text := range texts {
			if plainText(found) && looksSecret(found) && strings.Contains(text, found) {
				f.add(a.Elements[i], path)
				break
			}
		}
	}
}

// shortestSecret is the length from which a value counts as a secret; shorter
// ones are flags such as 1 or true.
const shortestSecret = 8

// plainText reports whether a value is written out, and long enough for a secret.
func plainText(s string) bool { return len(s) >= shortestSecret && !strings.Contains(s, "${") }

// isSecretNamed reports whether the value of that name is a secret. The name alone
// does not decide: AUTH_MODE=disabled and KEY_FILE=/run/key hold none.
func isSecretNamed(name, value string) bool {
	if !plainText(value) || strings.ContainsAny(value[:1], "/.~") || strings.Contains(value, "://") {
		return false
	}
	return looksSecret(value) || secret.Is(name, "") && (strings.ContainsAny(value, "0123456789") || len(value) >= longName)
}

// longName is longer than words such as modes and names of stores.
const longName = 20

// looksSecret reports whether an argument is a secret by itself. InArgs returns
// whatever must not be logged, such as all assignments, which is too much here.
func looksSecret(s string) bool { return secret.Is("", s) }

func hasSecret(found []string) bool {
	for _, s := range found {
		if plainText(s) && looksSecret(s) || plainText(s) && strings.Contains(s, ":") {
			return true
		}
	}
	return false
}

// literal returns the text of a string, "" for other values.
func literal(v hujson.Value) string {
	if l, ok := v.Value.(hujson.Literal); ok && l.Kind() == '"' {
		return l.String()
	}
	return ""
}
