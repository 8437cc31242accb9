package clients

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v3"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/configedit"
	"github.com/toolpost/toolpost/internal/nesting"
)

// maxConverted is the longest TOML or YAML file that is read.
const maxConverted = configedit.MaxTOML

// clientJSON returns a client's file as JSON, and reports whether it was
// converted from TOML (Codex) or YAML (Continue): then positions in it are not
// those of the file.
func clientJSON(path string, data []byte) (asJSON []byte, converted bool, err error) {
	if !configedit.IsTOML(path) && !isYAML(path) {
		return data, false, nil
	}
	if len(data) > maxConverted {
		return nil, true, fmt.Errorf("it is larger than %d bytes", maxConverted)
	}
	var v any
	if configedit.IsTOML(path) {
		v, err = configedit.DecodeTOML(data)
	} else {
		v, err = decodeYAML(data)
	}
	switch {
	case errors.Is(err, configedit.ErrExpands):
		return nil, true, err
	case err != nil:
		return nil, true, fmt.Errorf("it cannot be parsed as %s", strings.ToUpper(filepath.Ext(path)[1:])) // the parser's error may show values
	}
	if asJSON, err = json.Marshal(v); err != nil {
		return nil, true, fmt.Errorf("it holds values that JSON does not have")
	}
	return asJSON, true, nil
}

// maxExpanded is how long the values of a YAML file may be with its aliases
// replaced by what they stand for.
const maxExpanded = 8 * maxConverted

func isYAML(path string) bool {
	ext := strings.ToLower(filepath.Ext(path))
	return ext == ".yaml" || ext == ".yml"
}

func decodeYAML(data []byte) (v any, err error) {
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return nil, err
	}
	if left := chargeYAML(&root, 0, maxExpanded); left < 0 {
		return nil, configedit.ErrExpands
	}
	return v, root.Decode(&v)
}

// chargeYAML subtracts from budget the length of a node with its aliases replaced.
// The result is negative if that is too long, or too deep.
func chargeYAML(n *yaml.Node, depth, budget int) int {
	if depth > nesting.MaxDepth {
		return -1
	}
	budget -= 1 + len(n.Value)
	if n.Alias != nil {
		budget = chargeYAML(n.Alias, depth+1, budget)
	}
	for _, part := range n.Content {
		if budget < 0 {
			break
		}
		budget = chargeYAML(part, depth+1, budget)
	}
	return budget
}

// serverLists are the places in which clients keep their servers.
var serverLists = []string{
	"/mcpServers",      // Claude, Cursor, Windsurf, Gemini CLI, Cline; a list of named servers in Continue
	"/servers",         // VS Code
	"/mcp/servers",     // VS Code in its settings.json, opencode 2
	"/mcp",             // opencode 1
	"/context_servers", // Zed
	"/mcp_servers",     // Codex
}

// eachServer calls f for the servers of a client's file and the path of the list that has
// each: those for the user, and those that Claude Code keeps for each project.
func eachServer(root hujson.Value, f func(path []string, folder, name string, v *hujson.Value)) {
	for _, place := range serverLists {
		list := root.Find(place)
		if list == nil {
			continue
		}
		path := strings.Split(place[1:], "/")
		if place == "/mcp" {
			eachMember(list, func(name string, v *hujson.Value) {
				if v.Find("/command") != nil || v.Find("/url") != nil {
					f(path, "", name, v)
				}
			})
			continue
		}
		eachNamed(list, func(name string, v *hujson.Value) { f(path, "", name, v) })
	}
	projects := root.Find("/projects")
	if projects == nil {
		return
	}
	eachMember(projects, func(folder string, v *hujson.Value) {
		if list := v.Find("/mcpServers"); list != nil {
			path := []string{"projects", folder, "mcpServers"}
			eachMember(list, func(name string, v *hujson.Value) { f(path, folder, name, v) })
		}
	})
}

// eachMember calls f for the members of v, if it is an object.
func eachMember(v *hujson.Value, f func(name string, v *hujson.Value)) {
	if o, ok := v.Value.(*hujson.Object); ok {
		for i := range o.Members {
			f(key(&o.Members[i]), &o.Members[i].Value)
		}
	}
}

func key(m *hujson.ObjectMember) string { return m.Name.Value.(hujson.Literal).String() }

// eachNamed is eachMember that also takes a list of objects with a name.
func eachNamed(v *hujson.Value, f func(name string, v *hujson.Value)) {
	list, ok := v.Value.(*hujson.Array)
	if !ok {
		eachMember(v, f)
		return
	}
	for i := range list.Elements {
		name, _ := textOf(list.Elements[i].Find("/name"))
		f(name, &list.Elements[i])
	}
}

// textOf returns the string that v is; v may be nil.
func textOf(v *hujson.Value) (string, bool) {
	if v == nil || v.Value.Kind() != '"' {
		return "", false
	}
	return v.Value.(hujson.Literal).String(), true
}

// textsOf returns the strings of the array that v is; v may be nil.
func textsOf(v *hujson.Value) (all []string) {
	if v == nil {
		return nil
	}
	if list, ok := v.Value.(*hujson.Array); ok {
		for i := range list.Elements {
			if s, ok := textOf(&list.Elements[i]); ok {
				all = append(all, s)
			}
		}
	}
	return all
}
