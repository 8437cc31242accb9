package config

import (
	"errors"
	"slices"

	"github.com/tailscale/hujson"
)

// A Diagnostic is one thing that [Check] finds in a configuration file.
type Diagnostic struct {
	Problem
	Server  string // the server that it is about, "" for the file
	Warning bool   // everything starts nevertheless
}

// Check reads the file at path, whose content is data, and returns the mistakes
// in it, the variables that are not set, and the keys that have no effect, in
// the order of the file. It takes variables from the environment and starts
// nothing. The configuration is nil if the whole file cannot be used.
func Check(path string, data []byte) (*Config, []Diagnostic) {
	cfg, err := LoadData(path, data)
	if err != nil {
		return nil, fileDiagnostics(err)
	}
	s := newSource(path, data)
	root := s.root()
	var all []Diagnostic
	for i := range cfg.Servers {
		server := &cfg.Servers[i]
		if server.Err == nil {
			continue
		}
		for _, p := range s.problemsOf(root, server) {
			all = append(all, Diagnostic{p, server.Name, server.Disabled})
		}
	}
	for _, p := range cfg.notes {
		all = append(all, Diagnostic{Problem: p, Warning: true})
	}
	slices.SortStableFunc(all, func(a, b Diagnostic) int { return comparePlaces(a.Problem, b.Problem) })
	return cfg, all
}

// fileDiagnostics returns the mistakes because of which a whole file cannot be used.
func fileDiagnostics(err error) (all []Diagnostic) {
	invalid, ok := errors.AsType[*Error](err)
	if !ok {
		return []Diagnostic{{Problem: Problem{1, 1, err.Error()}}}
	}
	for _, p := range invalid.Problems {
		all = append(all, Diagnostic{Problem: p})
	}
	return all
}

// problemsOf returns why a server cannot be started. A reason that is not in
// the file, such as an environment file that cannot be read, is reported at the
// name of the server.
func (s *source) problemsOf(root *hujson.Object, server *Server) []Problem {
	if invalid, ok := errors.AsType[*Error](server.Err); ok {
		return invalid.Problems
	}
	if unset, ok := errors.AsType[*unsetError](server.Err); ok {
		return unset.problems
	}
	line, column := s.position(nameOffset(root, server.Name))
	return []Problem{{line, column, server.Err.Error()}}
}

// nameOffset returns where the name of a server stands, 0 if it is not found.
func nameOffset(root *hujson.Object, server string) int {
	for i := range root.Members {
		servers, ok := root.Members[i].Value.Value.(*hujson.Object)
		if name := key(&root.Members[i]); !ok || name != "mcpServers" && name != "servers" {
			continue
		}
		for j := range servers.Members {
			if m := &servers.Members[j]; key(m) == server {
				return m.Name.StartOffset
			}
		}
	}
	return 0
}
