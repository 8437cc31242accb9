package config

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/internal/secret"
	"github.com/toolpost/toolpost/internal/suggest"
	"github.com/toolpost/toolpost/upstream"
)

// redmineType is the type of a server that is a Redmine, which is reached over its REST API.
const redmineType upstream.Transport = "redmine"

// redmineGroups are the groups of tools of package redmine, which is not linked here.
var redmineGroups = []string{"issues", "projects", "versions", "time", "users", "wiki", "news", "files", "search", "reference", "repository"}

// redmineKeys are for servers of the type "redmine" only.
var redmineKeys = map[string]func(e *entry, v hujson.Value, path string){
	"apiKey":    func(e *entry, v hujson.Value, path string) { e.redmine.Key = expandText(e, v, path) },
	"key":       func(e *entry, v hujson.Value, path string) { e.redmine.Key = expandText(e, v, path) },
	"user":      func(e *entry, v hujson.Value, path string) { e.redmine.User = expandText(e, v, path) },
	"password":  func(e *entry, v hujson.Value, path string) { e.redmine.Password = expandText(e, v, path) },
	"token":     func(e *entry, v hujson.Value, path string) { e.redmine.Token = expandText(e, v, path) },
	"as":        func(e *entry, v hujson.Value, path string) { e.redmine.As = expandText(e, v, path) },
	"anonymous": func(e *entry, v hujson.Value, path string) { e.redmine.Anonymous = e.boolean(v, path) },
	"readOnly":  func(e *entry, v hujson.Value, path string) { e.redmine.ReadOnly = e.boolean(v, path) },
	"groups":    groups,
}

// mcpKeys mean nothing to a Redmine.
var mcpKeys = []string{"args", "env", "envFile", "cwd", "headers", "connectTimeout", "maxMessage", "protocolVersion", "share", "idle", "pins", "newTools"}

func expandText(e *entry, v hujson.Value, path string) string {
	return e.expand(e.text(v, path), v, path)
}

func groups(e *entry, v hujson.Value, path string) {
	e.each(v, path, func(v hujson.Value, path string) {
		name := e.text(v, path)
		if v.Value.Kind() == '"' && !slices.Contains(redmineGroups, name) {
			hint := "the groups are " + strings.Join(redmineGroups, ", ")
			if near := suggest.Nearest(name, redmineGroups); near != "" {
				hint = fmt.Sprintf("did you mean %q?", near)
			}
			e.fail(v.StartOffset, "%s is not a group of tools; %s", path, hint)
		}
		e.redmine.Groups = append(e.redmine.Groups, name)
	})
}

// checkType looks at keys that are for servers of one type.
func checkType(e *entry, m *hujson.ObjectMember) {
	s := &e.server
	isRedmine := s.Transport == redmineType
	e.members(m.Value, e.path, func(m *hujson.ObjectMember) {
		name := key(m)
		switch {
		case isRedmine && slices.Contains(mcpKeys, name):
			e.fail(m.Name.StartOffset, `%s.%s has no meaning for a server of the type "redmine"; remove it`, e.path, name)
		case !isRedmine && redmineKeys[name] != nil:
			e.wrongKey(m, e.path, e.path+"."+name+` is for servers of the type "redmine"; remove it, or give that type`)
		}
	})
	if !isRedmine {
		return
	}
	s.Source = &e.redmine
	s.Source.URL, s.Source.Timeout = s.URL, s.CallTimeout
	if len(e.unset) > 0 || e.vars == nil {
		return
	}
	known := s.Source.credentials()
	later := func(context.Context, Reference) (string, error) { return "x", nil } // secrets are read later
	for _, text := range known.Texts() {
		*text, _ = resolve(context.Background(), later, *text)
	}
	switch err := known.Trim().Check(); {
	case errors.Is(err, secret.ErrNoCredentials):
		e.fail(m.Name.StartOffset, `%s has no credentials; give "apiKey", such as "${REDMINE_API_KEY}", or "anonymous": true to serve what is public`, e.path)
	case err != nil:
		e.fail(m.Name.StartOffset, "%s: %v", e.path, err)
	}
}

// Product returns what people call the server that the tools of a Source are for.
func (s *Server) Product() string {
	if s.Transport == redmineType {
		return "Redmine"
	}
	return string(s.Transport)
}

// setter returns what reads a key of a server, nil if there is no such key.
func setter(name string) func(e *entry, v hujson.Value, path string) {
	if set := entryKeys[name]; set != nil {
		return set
	}
	return redmineKeys[name]
}

// knownKeys are all keys of a server.
func knownKeys() []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(entryKeys)), maps.Keys(redmineKeys))
	slices.Sort(all)
	return all
}
