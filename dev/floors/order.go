package floors

import (
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/toolpost/toolpost"

// order lists the folders of the module from the ground up; "." is the package at its
// root. A package is in the longest of them that contains it, and imports packages of the
// same folder and of those before it. One that is in no folder breaks the gate: decide where
// it belongs.
var order = []string{
	"internal",
	"schema", "usage", "store", "dep",
	".",
	"bind", "observe", "schema/dialect",
	"internal/policy", "internal/access/trail",
	"upstream", "mcpserver", "audit", "output", "stdtool", "toolsearch", "redmine",
	"claude", "model", "agent", "tooltest",
	"internal/access",
	"telemetry", "config", "gateway",
	"internal/access/login", "internal/access/owner",
	"serve",
	"cmd/toolpost", "examples",
	"dev",
}

const (
	jsonModule = "github.com/go-json-experiment/json"
	mcpModule  = "github.com/modelcontextprotocol/go-sdk"
)

// outside lists the other modules that a package may import. A package that is
// not listed imports none.
var outside = map[string][]string{
	"":                               {jsonModule},
	"bind":                           {jsonModule},
	"internal/codec":                 {jsonModule},
	"stdtool/internal/encodings":     {"golang.org/x/text"}, // tables of encodings
	"internal/extension":             {jsonModule},
	"internal/wire":                  {jsonModule, "golang.org/x/net"}, // domains in URIs
	"internal/jsontree":              {jsonModule},
	"schema":                         {jsonModule},
	"schema/internal/ecmaregexp":     {"github.com/dlclark/regexp2"},
	"internal/access/login":          {"golang.org/x/net", "golang.org/x/oauth2"},
	"internal/netaddr":               {"code.dny.dev/ssrf"},
	"internal/policy/pins":           {jsonModule},
	"internal/secret":                {jsonModule},
	"dev/screen":                     {"github.com/charmbracelet/x/ansi", "golang.org/x/sys"},
	"cmd/toolpost/internal/terminal": {"github.com/charmbracelet/x/ansi", "golang.org/x/sys", "golang.org/x/term"},
	"internal/access/vault":          {"github.com/godbus/dbus/v5", "github.com/zalando/go-keyring"},
	"schema/internal/lower":          {jsonModule},
	"schema/dialect":                 {jsonModule},
	"model/gemini":                   {"golang.org/x/oauth2"}, // the credentials of Vertex AI
	"mcpserver":                      {jsonModule},
	"stdtool":                        {"github.com/JohannesKaufmann/dom", "github.com/JohannesKaufmann/html-to-markdown/v2", "github.com/aymanbagabas/go-udiff", "golang.org/x/net", "golang.org/x/sys", "golang.org/x/text"},
	"output":                         {jsonModule},
	"redmine":                        {"golang.org/x/text"},             // forms of Unicode in names
	"dev/soak":                       {mcpModule},                       // its clients and servers are those of the SDK
	"upstream":                       {jsonModule, "golang.org/x/text"}, // repairs of long text
	"claude/message":                 {jsonModule},
	"config":                         {jsonModule, "github.com/tailscale/hujson"},
	"telemetry":                      {"github.com/prometheus/client_golang", "go.opentelemetry.io/otel", "go.opentelemetry.io/proto/otlp", "golang.org/x/net", "google.golang.org/protobuf"},
	"internal/policy/limit":          {"golang.org/x/time"},
	"cmd/toolpost/internal/chat":     {"github.com/charmbracelet/x/ansi"},
	"internal/access/callers":        {"github.com/coreos/go-oidc/v3", jsonModule, "golang.org/x/time"},
	"internal/filewatch":             {"github.com/fsnotify/fsnotify"},
	"cmd/toolpost/internal/top":      {"charm.land/bubbletea/v2"},
	"gateway":                        {jsonModule},
	"dev/accept":                     {"github.com/santhosh-tekuri/jsonschema/v6"},
	"cmd/toolpost":                   {"github.com/spf13/cobra", "github.com/spf13/pflag"},

	"cmd/toolpost/internal/cli":        {"github.com/spf13/cobra"},
	"cmd/toolpost/internal/clients":    {"github.com/tailscale/hujson", "go.yaml.in/yaml/v3"},
	"cmd/toolpost/internal/configedit": {"github.com/BurntSushi/toml", "github.com/tailscale/hujson"},
	"cmd/toolpost/internal/configfile": {"github.com/tailscale/hujson"},
	"cmd/toolpost/internal/doctor":     {"github.com/tailscale/hujson"},
	"cmd/toolpost/internal/tomledit":   {"github.com/tailscale/hujson"},
	"cmd/toolpost/internal/records":    {"github.com/spf13/cobra"},
	"cmd/toolpost/internal/servers":    {"github.com/spf13/cobra"},
	"cmd/toolpost/internal/connect":    {"github.com/spf13/cobra"},
	"cmd/toolpost/internal/tools":      {"github.com/spf13/cobra"},
	"cmd/toolpost/internal/review":     {"github.com/spf13/cobra"},
	"cmd/toolpost/internal/checks":     {"github.com/spf13/cobra"},
	"cmd/toolpost/internal/agents":     {"github.com/spf13/cobra", "github.com/spf13/pflag"},
	"cmd/toolpost/internal/folder":     {"github.com/spf13/cobra"},
	"cmd/toolpost/internal/upgrade":    {"github.com/spf13/cobra"},
	"cmd/toolpost/internal/uninstall":  {"github.com/spf13/cobra"},
	"cmd/toolpost/internal/service":    {"github.com/spf13/cobra", "github.com/spf13/pflag"},
}

// Order checks that every package is in a folder of the order, and that no import runs from
// a lower folder to a higher one.
func Order(files []*File) []Problem {
	var found []Problem
	for _, f := range files {
		from := floor(f.Package)
		if from < 0 {
			found = append(found, f.problem(f.Syntax.Package, "package %q is in no folder of the order", f.Package))
			continue
		}
		for _, i := range imports(f) {
			if !within(module, i.path) {
				continue
			}
			pkg := strings.TrimPrefix(strings.TrimPrefix(i.path, module), "/")
			if to := floor(pkg); to < 0 || to > from {
				found = append(found, Problem{i.where, "imports " + strconv.Quote(pkg) + ", which is in a higher folder"})
			}
		}
	}
	return found
}

// floor returns the index of a package's folder, -1 if it is in none.
func floor(pkg string) int {
	longest, at := -1, -1
	for i, folder := range order {
		if (within(folder, pkg) || folder == "." && pkg == "") && len(folder) > longest {
			longest, at = len(folder), i
		}
	}
	return at
}

// Stale checks the tables themselves: every folder has packages, and every package imports
// the outside modules that it may import.
func Stale(files []*File) []Problem {
	imported := map[string][]string{} // by package
	used := map[int]bool{}
	for _, f := range files {
		used[floor(f.Package)] = true
		for _, i := range imports(f) {
			imported[f.Package] = append(imported[f.Package], i.path)
		}
	}
	var found []Problem
	for i, folder := range order {
		if !used[i] {
			found = append(found, Problem{"dev/floors/order.go", "there is no package in " + strconv.Quote(folder) + "; remove it from the order"})
		}
	}
	for name, modules := range outside {
		for _, m := range modules {
			if !slices.ContainsFunc(imported[name], func(path string) bool { return within(m, path) }) {
				found = append(found, Problem{"dev/floors/order.go", "package " + strconv.Quote(name) + " does not import " + m + "; remove it from the table"})
			}
		}
	}
	return found
}

// Modules checks that packages import only the outside modules allowed to them.
func Modules(files []*File) []Problem {
	var found []Problem
	for _, f := range files {
		for _, i := range imports(f) {
			if !isStandard(i.path) && !within(module, i.path) && !allowed(f.Package, i.path) {
				found = append(found, Problem{i.where, "package " + strconv.Quote(f.Package) + " may not import " + i.path})
			}
		}
	}
	return found
}

// isStandard reports whether a package is one of the standard library, whose
// paths begin with no host.
func isStandard(path string) bool {
	host, _, _ := strings.Cut(path, "/")
	return !strings.Contains(host, ".")
}

func allowed(pkg, path string) bool {
	for _, m := range outside[pkg] {
		if within(m, path) {
			return true
		}
	}
	return false
}

func within(module, path string) bool {
	return path == module || strings.HasPrefix(path, module+"/")
}

type imported struct{ path, where string }

func imports(f *File) []imported {
	var all []imported
	for _, s := range f.Syntax.Imports {
		path, err := strconv.Unquote(s.Path.Value)
		if err != nil {
			path = s.Path.Value
		}
		all = append(all, imported{path, f.problem(s.Pos(), "").Where})
	}
	return all
}
