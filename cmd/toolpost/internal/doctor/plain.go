package doctor

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/internal/nesting"
	"github.com/toolpost/toolpost/internal/secret"
)

// A plainSecret is a value that looks like a secret instead of a variable.
type plainSecret struct {
	line, column int
	path         string // of its key, such as mcpServers.github.env.TOKEN
	server       string // "" for a profile
}

// plainSecrets returns where a configuration file, whose content is data, holds what looks
// like a secret instead of a variable. No value is returned.
func plainSecrets(data []byte) (all []plainSecret) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if nesting.TooDeep(data, nesting.SkipJSON) >= 0 {
		return nil
	}
	v, err := hujson.Parse(data)
	root, ok := v.Value.(*hujson.Object)
	if err != nil || !ok {
		return nil
	}
	for i := range root.Members {
		top := &root.Members[i]
		entries, ok := top.Value.Value.(*hujson.Object)
		list := key(top)
		if !ok || list != "mcpServers" && list != "servers" && list != "profiles" {
			continue
		}
		for j := range entries.Members {
			name := key(&entries.Members[j])
			f := &secretFinder{data: data, server: name}
			if list == "profiles" {
				f.server = ""
			}
			f.entry(&entries.Members[j], list+"."+name)
			all = append(all, f.found...)
		}
	}
	return all
}

// maxPlainSecrets is how many are reported of one entry.
const maxPlainSecrets = 100

func key(m *hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

// A secretFinder looks for secrets in one entry.
type secretFinder struct {
	data   []byte // of the file
	server string
	found  []plainSecret
}

func (f *secretFinder) add(v hujson.Value, path string) {
	if len(f.found) == maxPlainSecrets {
		return
	}
	before := f.data[:v.StartOffset]
	line := bytes.LastIndexByte(before, '\n') + 1
	f.found = append(f.found, plainSecret{1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[line:]), path, f.server})
}

// credentialKeys hold the credentials of a Redmine, and the token of a profile.
var credentialKeys = []string{"apiKey", "key", "user", "password", "token", "as"}

// scheme matches what stands before the secret in the value of an Authorization header.
var scheme = lazyregexp.New(`^(?i)(bearer|basic|token) `)

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
			if slices.Contains(credentialKeys, name) && isSecretNamed(name, literal(m.Value)) {
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
