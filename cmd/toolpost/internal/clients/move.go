package clients

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/configfile"
	"github.com/toolpost/toolpost/config"
)

// A Move takes servers out of the files of clients that get them from a toolpost.json.
type Move struct {
	File   string // the path of the toolpost.json
	Data   []byte // its content, nil if it does not exist
	Folder string // the project whose entries in a user's file count too; others stay
}

// A Server is a server in the file of a client, compared with those of a toolpost.json.
type Server struct {
	Name string   // in the client's file
	Path []string // of its entry there
	Same string   // the name of the same server in the toolpost.json, empty if there is none

	// Stays is the reason why the entry cannot be taken out, even after an import.
	Stays string
}

// IsDuplicate reports whether a client that also uses the toolpost.json lists the tools of
// the server twice, so that its entry can go.
func (s *Server) IsDuplicate() bool { return s.Same != "" && s.Stays == "" }

// includes reports whether a move is about the servers of a project in a user's file; ""
// stands for the user's own.
func (m *Move) includes(folder string) bool { return folder == "" || folder == m.Folder }

// Import is [Import] for servers that leave the files of their clients: only those that
// mean the same in the toolpost.json, under the same name.
func (m *Move) Import(files []File, keep func(*ImportedServer) bool) (*Imported, error) {
	return (&importer{out: &Imported{}, name: m.File, moves: m}).run(files, m.Data, keep)
}

// Compare returns the servers in the content of a client's file, without the gateway.
func (m *Move) Compare(f File, data []byte) ([]Server, error) {
	known, err := config.Parse(m.File, configfile.OrEmpty(m.Data), nil)
	if err != nil {
		return nil, fmt.Errorf("compare servers: %w", err)
	}
	c, top, err := readContent(f, data)
	if c == nil {
		return nil, err
	}
	var all []Server
	eachServer(*top, func(path []string, folder, name string, v *hujson.Value) {
		if _, ok := v.Value.(*hujson.Object); !ok || name == "" || !m.includes(folder) || len(all) == maxServers {
			return
		}
		server, _, notes, err := c.in(folder).readServer(name, v)
		if err == nil && pointsHere(server) {
			return
		}
		one := Server{Name: name, Path: append(slices.Clone(path), name)}
		switch {
		case err != nil:
			one.Stays = err.Error()
		case len(notes) > 0:
			one.Stays = strings.Join(notes, "; ")
		default:
			one.Same, one.Stays = sameAs(known, server)
		}
		all = append(all, one)
	})
	return all, nil
}

// sameAs returns the name of the server of a configuration that means the same as s, or in which way the
// one that has its place differs.
func sameAs(c *config.Config, s *config.Server) (name, difference string) {
	for i := range c.Servers {
		known := &c.Servers[i]
		if known.Err != nil || !sameServer(*known, *s) {
			continue
		}
		if parts := otherUse(known, s); len(parts) > 0 {
			return known.Name, fmt.Sprintf("%q differs in the toolpost.json: %s", known.Name, strings.Join(parts, ", "))
		}
		return known.Name, ""
	}
	if i := slices.IndexFunc(c.Servers, func(known config.Server) bool { return known.Name == s.Name }); i >= 0 {
		known := &c.Servers[i]
		return "", fmt.Sprintf("%q differs in the toolpost.json: %s", s.Name, strings.Join(otherServer(known, s), ", "))
	}
	return "", ""
}

// otherUse lists in which way a client uses the server known in another way than the
// toolpost.json does.
func otherUse(known, s *config.Server) (parts []string) {
	if known.Disabled != s.Disabled {
		parts = append(parts, "enabled or not")
	}
	if (len(s.Allow) > 0 || len(s.Deny) > 0) && !(slices.Equal(known.Allow, s.Allow) && slices.Equal(known.Deny, s.Deny)) {
		parts = append(parts, "selected tools")
	}
	if s.Auth != nil && known.Auth == nil {
		parts = append(parts, "login")
	}
	return parts
}

// otherServer lists in which way two servers differ, without their values.
func otherServer(a, b *config.Server) (parts []string) {
	for _, part := range []struct {
		name string
		same bool
	}{
		{"command", a.Command == b.Command},
		{"arguments", slices.Equal(a.Args, b.Args)},
		{"variables", maps.Equal(a.Env, b.Env) && a.EnvFile == b.EnvFile},
		{"folder", a.Dir == b.Dir},
		{"address", a.URL == b.URL},
		{"headers", maps.Equal(a.Headers, b.Headers)},
		{"transport", sameTransport(*a, *b)},
		{"login", sameAuth(a.Auth, b.Auth)},
	} {
		if !part.same {
			parts = append(parts, part.name)
		}
	}
	if len(parts) == 0 {
		parts = append(parts, "its entry there is not valid")
	}
	return parts
}
