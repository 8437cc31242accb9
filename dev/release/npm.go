package main

import (
	_ "embed"
	"encoding/json"
)

//go:embed npm/toolpost.js
var npmLauncher []byte

// What npm calls the platforms of Go.
var (
	npmSystems       = map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32"}
	npmArchitectures = map[string]string{"amd64": "x64", "arm64": "arm64"}
)

// An npmPackage is the package.json of a package.
type npmPackage struct {
	Name        string            `json:"name"`
	Version     string            `json:"version"`
	Description string            `json:"description"`
	Keywords    []string          `json:"keywords,omitempty"`
	Homepage    string            `json:"homepage"`
	License     string            `json:"license"`
	Repository  map[string]string `json:"repository"`
	Commands    map[string]string `json:"bin,omitempty"`
	Engines     map[string]string `json:"engines,omitempty"`
	Systems     []string          `json:"os,omitempty"`
	CPUs        []string          `json:"cpu,omitempty"`
	Optional    map[string]string `json:"optionalDependencies,omitempty"`
	MCPName     string            `json:"mcpName,omitempty"`

	// Yarn runs a program only from a package that it has unpacked.
	Unplugged bool `json:"preferUnplugged,omitempty"`
}

// writeNPM writes the packages for npm: one for each platform, with the program, and the
// package toolpost, which depends on them and starts the program of the package that npm
// has chosen by system and CPU. No package runs a script when it is installed.
func writeNPM(r *release) error {
	launcher := r.npmPackage("toolpost", summary)
	launcher.Keywords = []string{"mcp", "model-context-protocol", "gateway", "agents", "tools"}
	launcher.Commands = map[string]string{"toolpost": "bin/toolpost.js"}
	launcher.Engines = map[string]string{"node": ">=18"}
	launcher.Optional = map[string]string{}
	launcher.MCPName = registryName("toolpost")
	for _, p := range r.programs {
		system, cpu := npmSystems[p.goos], npmArchitectures[p.goarch]
		platform := r.npmPackage("@toolpost/"+system+"-"+cpu, "The program of the package toolpost for "+system+" on "+cpu)
		platform.Systems, platform.CPUs, platform.Unplugged = []string{system}, []string{cpu}, true
		launcher.Optional[platform.Name] = platform.Version
		if err := r.putNPM("toolpost-"+system+"-"+cpu, platform, file{"bin/" + p.name(), 0o755, p.data}); err != nil {
			return err
		}
	}
	return r.putNPM("toolpost", launcher, file{"bin/toolpost.js", 0o755, npmLauncher})
}

func (r *release) npmPackage(name, description string) *npmPackage {
	return &npmPackage{
		Name: name, Version: r.number(), Description: description, Homepage: homepage, License: licence,
		Repository: map[string]string{"type": "git", "url": "git+" + homepage + ".git"},
	}
}

// putNPM writes a package as npm packs it: everything is in the folder "package".
func (r *release) putNPM(name string, p *npmPackage, command file) error {
	description, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	texts, err := r.texts()
	if err != nil {
		return err
	}
	files := append([]file{{"package.json", 0o644, append(description, '\n')}, command}, texts...)
	for i := range files {
		files[i].name = "package/" + files[i].name
	}
	data, err := tarFiles(files, r.time)
	if err != nil {
		return err
	}
	return r.put("npm/"+name+"-"+r.number()+".tgz", data)
}
