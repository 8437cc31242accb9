package configfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/configedit"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/suggest"
)

// ServerList returns the key under which a toolpost.json keeps its servers.
func ServerList(d configedit.Document) string {
	if list, err := d.Get("mcpServers"); list == nil && err == nil {
		if list, _ = d.Get("servers"); list != nil {
			return "servers"
		}
	}
	return "mcpServers"
}

// OrEmpty returns the content of a toolpost.json, or that of one without servers for a
// file that does not exist or is empty.
func OrEmpty(data []byte) []byte {
	if IsEmpty(data) {
		return []byte("{\n  \"mcpServers\": {}\n}\n")
	}
	return data
}

// IsEmpty reports whether a file has no content.
func IsEmpty(data []byte) bool { return len(bytes.TrimSpace(data)) == 0 }

// Encode writes a value as JSON without escapes for HTML.
func Encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil // strings are always encoded
	}
	return bytes.TrimSpace(b.Bytes())
}

// Add adds a server, whose entry is encoded as JSON, to data, the content of the toolpost.json with the given
// path; data is empty if the file does not exist. It returns the new content, in
// which only the new lines differ, and describes the server. The error lists the
// mistakes of the entry, or reports that the name is taken.
func Add(file string, data []byte, name string, entry any) ([]byte, *config.Description, error) {
	data = OrEmpty(data)
	d, err := configedit.Open(data)
	if err != nil {
		return nil, nil, fmt.Errorf("add %s to %s: %w", name, file, err)
	}
	list := ServerList(d)
	if taken, _ := d.Get(list, name); taken != nil {
		return nil, nil, fmt.Errorf("add %s: %s has a server of that name already; choose another with --name, or remove it with: toolpost remove %s", name, file, name)
	}
	if err := configedit.Set(d, Encode(entry), list, name); err != nil {
		return nil, nil, fmt.Errorf("add %s to %s: %w", name, file, err)
	}
	written, err := config.Parse(file, d.Bytes(), nil)
	if err != nil {
		return nil, nil, err
	}
	i := index(written, name)
	if i < 0 {
		return nil, nil, fmt.Errorf("add %q: it cannot be the name of a server; choose another with --name", name)
	}
	if err := written.Servers[i].Err; err != nil {
		return nil, nil, fmt.Errorf("add %s: %w", name, err)
	}
	return d.Bytes(), &written.Describe()[i], nil
}

// index returns the index of the server of that name, -1 if there is none.
func index(cfg *config.Config, name string) int {
	return slices.IndexFunc(cfg.Servers, func(s config.Server) bool { return s.Name == name })
}

// Remove removes servers from data, the content of the toolpost.json with the
// given path, and returns the new content.
func Remove(file string, data []byte, names ...string) ([]byte, error) {
	written, err := config.Parse(file, data, nil)
	if err != nil {
		return nil, err
	}
	d, err := configedit.Open(data)
	if err != nil {
		return nil, fmt.Errorf("remove a server from %s: %w", file, err)
	}
	list := ServerList(d)
	for _, name := range names {
		if index(written, name) < 0 {
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
	cfg, err := config.Parse(file, data, nil)
	if err != nil {
		return nil
	}
	for i := range cfg.Servers {
		folders = append(folders, cfg.Servers[i].Dir)
	}
	return folders
}

func otherServers(name string, cfg *config.Config) string {
	var known []string
	for i := range cfg.Servers {
		known = append(known, cfg.Servers[i].Name)
	}
	if near := suggest.Nearest(name, known); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	if len(known) == 0 {
		return "; it has none"
	}
	return "; it has " + strings.Join(known, ", ")
}
