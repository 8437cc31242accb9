package main

import "encoding/json"

// The members of the manifest of an MCP bundle that are written, in version 0.3.
type (
	manifest struct {
		ManifestVersion string               `json:"manifest_version"`
		Name            string               `json:"name"`
		DisplayName     string               `json:"display_name"`
		Version         string               `json:"version"`
		Description     string               `json:"description"`
		Author          map[string]string    `json:"author"`
		Repository      map[string]string    `json:"repository"`
		Homepage        string               `json:"homepage"`
		License         string               `json:"license"`
		Server          bundleServer         `json:"server"`
		ToolsGenerated  bool                 `json:"tools_generated"`
		Compatibility   map[string][]string  `json:"compatibility"`
		UserConfig      map[string]userValue `json:"user_config,omitempty"`
	}
	bundleServer struct {
		Type       string       `json:"type"`
		EntryPoint string       `json:"entry_point"`
		Config     bundleConfig `json:"mcp_config"`
	}
	bundleConfig struct {
		Command string            `json:"command"`
		Args    []string          `json:"args"`
		Env     map[string]string `json:"env,omitempty"`
	}
	userValue struct {
		Type        string `json:"type"`
		Title       string `json:"title"`
		Description string `json:"description"`
		Required    bool   `json:"required"`
		Sensitive   bool   `json:"sensitive,omitempty"`
	}
)

// writeBundles writes an MCP bundle of each server for each platform: clients such as
// Claude Desktop install it from one file. A manifest can name systems, but no
// architectures, so the user chooses the file.
func writeBundles(r *release) error {
	texts, err := r.texts()
	if err != nil {
		return err
	}
	for _, s := range registryServers {
		for _, p := range r.programs {
			description, err := json.MarshalIndent(r.manifest(s, p), "", "  ")
			if err != nil {
				return err
			}
			files := append([]file{{"manifest.json", 0o644, append(description, '\n')}, {"server/" + p.name(), 0o755, p.data}}, texts...)
			data, err := zipFiles(files, r.time)
			if err != nil {
				return err
			}
			name := r.base(p)
			if s.id != "toolpost" {
				name = "toolpost-" + s.id + name[len("toolpost"):]
			}
			if err := r.put(name+".mcpb", data); err != nil {
				return err
			}
		}
	}
	return nil
}

// manifest describes a server on a platform.
func (r *release) manifest(s registryServer, p program) *manifest {
	m := &manifest{
		ManifestVersion: "0.3", Name: s.id, DisplayName: s.title, Version: r.number(), Description: s.description,
		Author: map[string]string{"name": maintainer, "url": homepage}, Homepage: homepage, License: licence,
		Repository: map[string]string{"type": "git", "url": homepage + ".git"},
		Server: bundleServer{
			Type: "binary", EntryPoint: "server/" + p.name(),
			Config: bundleConfig{Command: "${__dirname}/server/" + p.name(), Args: s.arguments, Env: map[string]string{}},
		},
		ToolsGenerated: true, Compatibility: map[string][]string{"platforms": {npmSystems[p.goos]}},
		UserConfig: map[string]userValue{},
	}
	for _, v := range s.variables {
		m.Server.Config.Env[v.name] = "${user_config." + v.key + "}"
		m.UserConfig[v.key] = userValue{"string", v.title, v.description, true, v.secret}
	}
	return m
}
