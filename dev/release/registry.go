package main

import "encoding/json"

// A registryServer is a server of the program, as the MCP registry and MCP bundles
// describe it.
type registryServer struct {
	id, title, description string
	arguments              []string // of the program
	variables              []variable
	npm                    bool // whether the npm package names it: it can name one server only
	image                  bool // and so can a container image
}

// A variable is one that the user sets for a server.
type variable struct {
	name, key, title, description string
	secret                        bool
}

// registryServers are the servers that the program has.
var registryServers = []registryServer{
	{
		id: "toolpost", title: "Toolpost", description: summary,
		arguments: []string{"serve", "--stdio"}, npm: true, image: true,
	},
	{
		id: "redmine", title: "Redmine", description: "Tools for the issues, projects, wiki pages and the rest of a Redmine",
		arguments: []string{"redmine"},
		variables: []variable{
			{"REDMINE_URL", "url", "Address", "The address of Redmine, such as https://redmine.example.com", false},
			{"REDMINE_API_KEY", "key", "API key", `The key that "My account" shows in Redmine`, true},
		},
	},
}

// registryName returns the name of a server in the MCP registry.
func registryName(id string) string { return "io.github.toolpost/" + id }

// The members of a server.json that are written, in version 2025-12-11.
type (
	serverJSON struct {
		Schema      string            `json:"$schema"`
		Name        string            `json:"name"`
		Title       string            `json:"title"`
		Description string            `json:"description"`
		Repository  map[string]string `json:"repository"`
		Version     string            `json:"version"`
		Packages    []registryPackage `json:"packages"`
	}
	registryPackage struct {
		Type      string             `json:"registryType"`
		ID        string             `json:"identifier"`
		Version   string             `json:"version,omitempty"`
		Hint      string             `json:"runtimeHint,omitempty"`
		Transport map[string]string  `json:"transport"`
		Arguments []registryArgument `json:"packageArguments"`
		Variables []registryVariable `json:"environmentVariables,omitempty"`
	}
	registryArgument struct {
		Type  string `json:"type"`
		Value string `json:"value"`
	}
	registryVariable struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Required    bool   `json:"isRequired"`
		Secret      bool   `json:"isSecret"`
	}
)

// writeRegistry writes the server.json of each server, which the MCP registry publishes.
func writeRegistry(r *release) error {
	for _, s := range registryServers {
		d := serverJSON{
			Schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
			Name:   registryName(s.id), Title: s.title, Description: s.description, Version: r.number(),
			Repository: map[string]string{"url": homepage, "source": "github"},
		}
		if s.npm {
			d.Packages = append(d.Packages, s.registryPackage("npm", "toolpost", r.number(), "npx"))
		}
		d.Packages = append(d.Packages, s.registryPackage("pypi", "toolpost", r.pythonVersion(), "uvx"))
		if s.image {
			d.Packages = append(d.Packages, s.registryPackage("oci", image+":"+r.number(), "", "docker"))
		}
		data, err := json.MarshalIndent(d, "", "  ")
		if err != nil {
			return err
		}
		if err := r.put("mcp-registry/"+s.id+"/server.json", append(data, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// registryPackage returns how a server is started from a package.
func (s registryServer) registryPackage(kind, id, version, hint string) registryPackage {
	p := registryPackage{Type: kind, ID: id, Version: version, Hint: hint, Transport: map[string]string{"type": "stdio"}}
	for _, argument := range s.arguments {
		p.Arguments = append(p.Arguments, registryArgument{"positional", argument})
	}
	for _, v := range s.variables {
		p.Variables = append(p.Variables, registryVariable{v.name, v.description, true, v.secret})
	}
	return p
}
