package config

import (
	"errors"
	"slices"

	"github.com/tailscale/hujson"
)

// Problems returns what is wrong in the file although it can be used, in the order of the
// file: the mistakes of servers, variables that are not set, and keys that have no effect.
func (c *Config) Problems() []Problem {
	if c.source == nil {
		return nil
	}
	all := slices.Clone(c.source.notes)
	for i := range c.Servers {
		s := &c.Servers[i]
		if s.Err == nil {
			continue
		}
		for _, p := range c.source.problemsOf(s) {
			p.Server, p.Warning = s.Name, s.Disabled
			all = append(all, p)
		}
	}
	sortProblems(all)
	return all
}

// problemsOf returns why a server cannot be started. A reason that is not in
// the file, such as an environment file that cannot be read, is reported at the
// name of the server.
func (s *source) problemsOf(server *Server) []Problem {
	if invalid, ok := errors.AsType[*Error](server.Err); ok {
		return invalid.Problems
	}
	if unset, ok := errors.AsType[*unsetError](server.Err); ok {
		return unset.problems
	}
	return []Problem{s.problem(s.nameOffset(server.Name), "%v", server.Err)}
}

// nameOffset returns where the name of a server stands, 0 if it is not found.
func (s *source) nameOffset(server string) int {
	root := s.root() // it was parsed before without a mistake
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
