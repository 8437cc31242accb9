package install

import (
	"fmt"
	"strings"

	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// The kinds of packages of the MCP registry, and of the prefixes of a name.
const (
	npm   = "npm"
	pypi  = "pypi"
	oci   = "oci"
	nuget = "nuget"
	mcpb  = "mcpb"
)

// known are the reference servers of MCP, by the names that people use.
var known = map[string]string{
	"everything":         "npm:@modelcontextprotocol/server-everything",
	"filesystem":         "npm:@modelcontextprotocol/server-filesystem",
	"memory":             "npm:@modelcontextprotocol/server-memory",
	"sequentialthinking": "npm:@modelcontextprotocol/server-sequential-thinking",
	"fetch":              "pypi:mcp-server-fetch",
	"git":                "pypi:mcp-server-git",
	"time":               "pypi:mcp-server-time",
}

// Known lists the names of servers that [Package] accepts without a prefix.
func Known() []string {
	return []string{"everything", "fetch", "filesystem", "git", "memory", "sequentialthinking", "time"}
}

// Package returns the plan for a package: the name of a known server, or
// npm:NAME, pypi:NAME or oci:IMAGE, with a version behind @ if there is one. It
// returns nil for another text.
func Package(text string, args []string) (*Plan, error) {
	if full := known[text]; full != "" {
		text = full
	}
	kind, name, found := strings.Cut(text, ":")
	if !found || kind != npm && kind != pypi && kind != oci {
		return nil, nil
	}
	p := &registryPackage{RegistryType: kind, Identifier: name}
	if at := strings.LastIndexByte(name, '@'); at > 0 && kind != oci {
		p.Identifier, p.Version = name[:at], name[at+1:]
	}
	if p.Version == "" && kind == npm {
		p.Version = "latest"
	}
	entry, err := p.command(nil, args, nil)
	if err != nil {
		return nil, err
	}
	return &Plan{Name: ShortName(p.Identifier), Entry: *entry}, nil
}

// Names and versions are arguments of commands: they must not look like options,
// paths or addresses.
var (
	npmName     = lazyregexp.New(`^(@[A-Za-z0-9~_][A-Za-z0-9~._-]*/)?[A-Za-z0-9~_][A-Za-z0-9~._-]*$`)
	plainName   = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)
	imageName   = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._/:-]*(@sha256:[0-9a-f]{64})?$`)
	versionName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9.+_-]*$`)
)

// command returns how a package is run. Runtime are arguments of the program that
// runs it, args those of the package, variables the names of its environment.
func (p *registryPackage) command(runtime, args, variables []string) (*Entry, error) {
	name := map[string]*lazyregexp.Regexp{npm: npmName, pypi: plainName, oci: imageName, nuget: plainName}[p.RegistryType]
	switch {
	case p.RegistryType == mcpb:
		return nil, fmt.Errorf("it is a bundle: download %s, compare its SHA-256 with %s, and run: toolpost add FILE.mcpb", p.Identifier, p.FileSHA256)
	case name == nil:
		return nil, fmt.Errorf("packages of the type %q are not supported", p.RegistryType)
	case !name.MatchString(p.Identifier):
		return nil, fmt.Errorf("%q cannot be the name of a package of %s", p.Identifier, p.RegistryType)
	case p.Version != "" && !versionName.MatchString(p.Version):
		return nil, fmt.Errorf("%q cannot be the version of a package", p.Version)
	}
	versioned := p.Identifier
	if p.Version != "" {
		versioned += "@" + p.Version
	}
	switch p.RegistryType {
	case npm:
		if len(runtime) == 0 || runtime[0] != "-y" && runtime[0] != "--yes" {
			runtime = append([]string{"-y"}, runtime...)
		}
		return p.run("npx", append(append(runtime, versioned), args...))
	case pypi:
		return p.run("uvx", append(append(runtime, versioned), args...))
	case nuget:
		all := append(append(runtime, versioned), "--yes")
		if len(args) > 0 {
			all = append(append(all, "--"), args...)
		}
		return p.run("dnx", all)
	}
	return p.container(runtime, args, variables)
}

// run returns an entry that runs a program, which the package may name too.
func (p *registryPackage) run(program string, args []string) (*Entry, error) {
	if p.RuntimeHint != "" && p.RuntimeHint != program {
		return nil, fmt.Errorf("its runtime %q is not supported for packages of %s; want %s", p.RuntimeHint, p.RegistryType, program)
	}
	return &Entry{Command: program, Args: args}, nil
}

// container returns an entry that runs an image, which gets the variables of the
// entry, and no others of the user's environment.
func (p *registryPackage) container(runtime, args, variables []string) (*Entry, error) {
	image := p.Identifier
	if last := image[strings.LastIndexByte(image, '/')+1:]; p.Version != "" && !strings.ContainsAny(last, ":@") {
		image += ":" + p.Version
	}
	if len(runtime) > 0 && runtime[0] == "run" {
		runtime = runtime[1:]
	}
	all := append([]string{"run", "-i", "--rm"}, runtime...)
	for _, name := range variables {
		all = append(all, "-e", name)
	}
	if len(runtime) == 0 || runtime[len(runtime)-1] != image && runtime[len(runtime)-1] != p.Identifier {
		all = append(all, image)
	}
	program := "docker"
	if p.RuntimeHint == "podman" {
		program = "podman"
	}
	return p.run(program, append(all, args...))
}
