//go:build linux

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A subject is one of those that are compared.
type subject struct {
	name     string
	upstream string // http or stdio
	whole    bool   // Toolpost with "output": false
	legacy   bool   // serves HTTP+SSE of 2024-11-05
	limits   bool   // limits what a client sees of an output
	peer     bool   // a gateway of others
	path     string // where it serves; /mcp if empty
	debug    bool   // is a build with net/http/pprof
	env      []string
	// command returns the command that serves at address, in front of an upstream
	// with this configuration; nil calls the upstream directly.
	command func(address, folder, era string, up server) ([]string, error)
}

// A server is the upstream as a gateway is told of it: by address or as a command.
type server struct {
	URL     string   `json:"url,omitempty"`
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command,omitempty"`
	Args    []string `json:"args,omitempty"`
}

func (s *subject) String() string {
	if s.upstream == "" {
		return s.name
	}
	return s.name + " " + s.upstream
}

// ours returns this program's own subjects: those that every gateway is compared with.
func ours(self string) []*subject {
	naive := func(address, _, era string, up server) ([]string, error) {
		args := []string{self, "-role", "naive", "-era", era, "-address", address}
		if up.URL != "" {
			return append(args, "-upstream", up.URL), nil
		}
		return append(append(args, up.Command), up.Args...), nil
	}
	return []*subject{
		{name: "direct", upstream: "http"},
		{name: "proxy", upstream: "http", command: func(address, _, _ string, up server) ([]string, error) {
			return []string{self, "-role", "proxy", "-address", address, "-upstream", up.URL}, nil
		}},
		{name: "naive", upstream: "http", command: naive},
		{name: "naive", upstream: "stdio", command: naive},
	}
}

// toolposts returns the subjects of one binary of Toolpost.
func toolposts(name, binary string) []*subject {
	var all []*subject
	for _, upstream := range []string{"http", "stdio"} {
		for _, whole := range []bool{false, true} {
			s := &subject{name: name, upstream: upstream, whole: whole, limits: !whole}
			if whole {
				s.name += "-whole"
			}
			s.command = func(address, folder, _ string, up server) ([]string, error) {
				config := map[string]any{"mcpServers": map[string]server{"up": up}}
				if whole {
					config["output"] = false
				}
				file, err := writeConfig(folder, config)
				return []string{binary, "serve", "--config", file, "--addr", address}, err
			}
			all = append(all, s)
		}
	}
	return all
}

func writeConfig(folder string, config any) (string, error) {
	data, err := json.Marshal(config)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	file := filepath.Join(folder, "config.json")
	return file, os.WriteFile(file, data, 0o600)
}

// fits reports whether the subject is measured in a cell. Below the limit,
// Toolpost passes everything on either way; HTTP+SSE has sessions.
func (s *subject) fits(c cell) bool {
	return (!s.whole || c.size.bytes > outputLimit) && (!s.legacy || c.era == sessionEra)
}

// A running is a subject that serves.
type running struct {
	*subject
	process  *process // nil if direct
	endpoint endpoint
	debug    string // address of net/http/pprof
	sdk      bool   // is called by clients that decode what they get
}

// readyTime is how long a gateway may take until it lists the tool.
const readyTime = 30 * time.Second

// run starts a subject in front of the upstream and waits until it lists the tool.
func (s *subject) run(folder, era string, up server) (*running, error) {
	r := &running{subject: s, endpoint: endpoint{url: up.URL, era: era, legacy: s.legacy, tool: "text"}}
	if s.command == nil {
		return r, nil
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	r.endpoint.url = "http://" + address + cmp.Or(s.path, "/mcp")
	command, err := s.command(address, folder, era, up)
	if err != nil {
		return nil, err
	}
	env := s.env
	if s.debug {
		if r.debug, err = freeAddress(); err != nil {
			return nil, err
		}
		env = append(env, debugVariable+"="+r.debug)
	}
	if r.process, err = start(folder, env, command...); err != nil {
		return nil, err
	}
	err = r.process.until(readyTime, func() error {
		c, err := dial(r.endpoint, "")
		if err != nil {
			return err
		}
		defer c.close()
		r.endpoint.tool, err = c.find()
		return err
	})
	if err != nil {
		r.stop()
		return nil, err
	}
	return r, nil
}

func (r *running) stop() {
	if r.process != nil {
		r.process.stop()
	}
}

// parseBinaries reads a list of [NAME=]FILE.
func parseBinaries(list string) ([]*subject, error) {
	var all []*subject
	for entry := range strings.SplitSeq(list, ",") {
		name, file, ok := strings.Cut(entry, "=")
		if !ok {
			name, file = "toolpost", entry
		}
		file, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("-toolpost: %w", err)
		}
		all = append(all, toolposts(name, file)...)
	}
	if len(all) == 0 {
		return nil, errors.New("-toolpost is empty; want [NAME=]FILE, separated by commas")
	}
	return all, nil
}
