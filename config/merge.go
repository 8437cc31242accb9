package config

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/internal/configedit"
	"github.com/toolpost/toolpost/internal/suggest"
)

// write adds the servers that were found to data, a toolpost.json that was
// parsed before. Only the new lines differ.
func (im *importer) write(data []byte, keep func(*ImportedServer) bool) error {
	im.out.JSON = data
	d, err := configedit.Open(data)
	if err != nil {
		return fmt.Errorf("import servers: %w", err)
	}
	var added []configedit.Member
	for _, f := range im.found {
		if f.value.Value == nil {
			continue
		}
		server := ImportedServer{f.server.Name, f.from, describe(&f.server), f.folder}
		if keep != nil && !keep(&server) {
			continue
		}
		added = append(added, configedit.Member{Name: server.Name, Value: minimal(f.value)})
		im.out.Servers = append(im.out.Servers, server)
	}
	if len(added) == 0 {
		return nil
	}
	if err := d.SetAll(added, serverList(d)); err != nil {
		return fmt.Errorf("import servers: %w", err)
	}
	im.out.JSON = d.Bytes()
	return nil
}

// serverList returns the key under which a toolpost.json keeps its servers.
func serverList(d configedit.Document) string {
	if list, err := d.Get("mcpServers"); list == nil && err == nil {
		if list, _ = d.Get("servers"); list != nil {
			return "servers"
		}
	}
	return "mcpServers"
}

func minimal(v hujson.Value) json.RawMessage {
	v.Minimize()
	return json.RawMessage(v.Pack())
}

const emptyFile = "{\n  \"mcpServers\": {}\n}\n"

// Add adds a server, whose entry is encoded as JSON, to data, the content of the toolpost.json with the given
// path; data is empty if the file does not exist. It returns the new content, in
// which only the new lines differ, and describes the server. The error lists the
// mistakes of the entry, or reports that the name is taken.
func Add(file string, data []byte, name string, entry any) ([]byte, *Description, error) {
	data = orEmpty(data)
	d, err := configedit.Open(data)
	if err != nil {
		return nil, nil, fmt.Errorf("add %s to %s: %w", name, file, err)
	}
	list := serverList(d)
	if taken, _ := d.Get(list, name); taken != nil {
		return nil, nil, fmt.Errorf("add %s: %s has a server of that name already; choose another with --name, or remove it with: toolpost remove %s", name, file, name)
	}
	if err := configedit.Set(d, encode(entry), list, name); err != nil {
		return nil, nil, fmt.Errorf("add %s to %s: %w", name, file, err)
	}
	written, err := readUnexpanded(file, d.Bytes())
	if err != nil {
		return nil, nil, err
	}
	server := written.server(name)
	if server == nil {
		return nil, nil, fmt.Errorf("add %q: it cannot be the name of a server; choose another with --name", name)
	}
	if server.Err != nil {
		return nil, nil, fmt.Errorf("add %s: %w", name, server.Err)
	}
	description := describe(server)
	return d.Bytes(), &description, nil
}

// Remove removes servers from data, the content of the toolpost.json with the
// given path, and returns the new content.
func Remove(file string, data []byte, names ...string) ([]byte, error) {
	written, err := readUnexpanded(file, data)
	if err != nil {
		return nil, err
	}
	d, err := configedit.Open(data)
	if err != nil {
		return nil, fmt.Errorf("remove a server from %s: %w", file, err)
	}
	list := serverList(d)
	for _, name := range names {
		if written.server(name) == nil {
			return nil, fmt.Errorf("%s has no server %q%s", file, name, otherServers(name, written))
		}
		if err := d.Remove(list, name); err != nil {
			return nil, fmt.Errorf("remove %s from %s: %w", name, file, err)
		}
	}
	return d.Bytes(), nil
}

// Folders lists the folders in which the servers of a toolpost.json start, as the
// file has them.
func Folders(file string, data []byte) (folders []string) {
	cfg, err := readUnexpanded(file, data)
	if err != nil {
		return nil
	}
	for i := range cfg.Servers {
		folders = append(folders, cfg.Servers[i].Dir)
	}
	return folders
}

func otherServers(name string, cfg *Config) string {
	known := mapAll(cfg.Servers, func(s Server) string { return s.Name })
	if near := suggest.Nearest(name, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	if len(known) == 0 {
		return "; it has none"
	}
	return "; it has " + strings.Join(known, ", ")
}

// readUnexpanded reads a toolpost.json without the values of its variables.
func readUnexpanded(name string, data []byte) (*Config, error) {
	s := newSource(name, data)
	cfg := &Config{}
	if root := s.root(); root != nil {
		(&file{source: s, cfg: cfg}).read(root)
	}
	if len(s.problems) > 0 {
		sortProblems(s.problems)
		return nil, &Error{name, s.problems}
	}
	return cfg, nil
}
