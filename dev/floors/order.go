package floors

import (
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/toolpost/toolpost"

// floors lists the packages from the ground up; "" is the module's root. A
// package imports lower floors only. One that is not here breaks the gate:
// decide where it belongs. Other packages in internal may import everything.
var floors = [][]string{
	{"internal/jsontree", "internal/atomicfile", "internal/ownership"},
	{"internal/shape", "internal/percentile", "internal/lazyregexp", "internal/codec", "internal/cleartext", "stdtool/internal/encodings", "internal/environ", "internal/filelock", "internal/filewatch", "internal/suggest", "internal/group", "internal/budget", "internal/inflight", "internal/keylock", "internal/httpconn", "internal/netaddr", "internal/ownversion", "model/internal/sse", "internal/policy/trust", "internal/access/wellknown", "dev/fixture", "internal/wire"}, // what packages of several floors share
	{"internal/subschema"},
	{"schema", "schema/form", "grep", "store", "internal/extension", "internal/catalog", "internal/longjson", "internal/policy/pins", "internal/policy/suspect", "internal/secret", "internal/terminal", "internal/access/vault", "usage"},
	{"", "schema/lower", "store/storetest", "internal/edit", "cmd/toolpost/internal/install"},
	{"dialect", "adapt", "bind", "observe", "retool"},
	{"mcpserver", "upstream", "output", "stdtool", "model", "model/offer", "redmine", "claude/cli", "claude/message", "cmd/toolpost/internal/lint", "toolsearch", "audit", "recording", "cmd/toolpost/internal/monitor", "internal/policy/breaker", "internal/policy/limit", "internal/access/callers", "internal/policy/approval"},
	{"config", "claude/sessions", "tooltest", "internal/access/login", "model/internal/provider"},
	{"gateway", "claude", "model/anthropic", "model/gemini", "model/openai", "agent", "cmd/toolpost/internal/demo", "cmd/toolpost/internal/link"},
	{"cmd/toolpost/internal/doctor", "cmd/toolpost/internal/top", "cmd/toolpost/internal/chat", "telemetry", "model/claudecli"},
	{"cmd/toolpost", "claude/claudetest", "examples/claude", "examples/gateway"},
	{"dev/accept", "dev/bench/page", "dev/modeltest"}, // what others in internal measure and test with
}

const (
	jsonModule = "github.com/go-json-experiment/json"
	mcpModule  = "github.com/modelcontextprotocol/go-sdk"
)

// outside lists the other modules that a package may import. A package that is
// not listed imports none.
var outside = map[string][]string{
	"":                    {jsonModule},
	"bind":                {jsonModule},
	"internal/codec":      {jsonModule},
	"internal/edit":       {"github.com/BurntSushi/toml", "github.com/tailscale/hujson"},
	"stdtool/internal/encodings":  {"golang.org/x/text"}, // tables of encodings
	"internal/extension":  {jsonModule},
	"internal/wire":       {jsonModule, "golang.org/x/net"}, // domains in URIs
	"internal/jsontree":   {jsonModule},
	"schema":              {jsonModule},
	"internal/subschema":  {"github.com/dlclark/regexp2"},
	"internal/access/login":      {mcpModule, "golang.org/x/oauth2"},
	"internal/netaddr":    {"code.dny.dev/ssrf"},
	"internal/policy/pins":       {jsonModule},
	"internal/secret":     {jsonModule},
	"internal/terminal":   {"github.com/charmbracelet/x/ansi", "golang.org/x/term"},
	"internal/access/vault":      {"github.com/godbus/dbus/v5", "github.com/zalando/go-keyring"},
	"schema/lower":        {jsonModule},
	"dialect":             {jsonModule},
	"model/anthropic":     {"github.com/anthropics/anthropic-sdk-go"},
	"model/gemini":        {"google.golang.org/genai"},
	"model/openai":        {"github.com/openai/openai-go/v3"},
	"mcpserver":           {jsonModule},
	"stdtool":             {"github.com/JohannesKaufmann/dom", "github.com/JohannesKaufmann/html-to-markdown/v2", "github.com/aymanbagabas/go-udiff", "golang.org/x/net", "golang.org/x/sys", "golang.org/x/text"},
	"output":              {jsonModule},
	"redmine":             {"golang.org/x/text"},             // forms of Unicode in names
	"dev/soak":       {mcpModule},                       // its clients and servers are those of the SDK
	"upstream":            {jsonModule, "golang.org/x/text"}, // repairs of long text
	"claude/message":      {jsonModule},
	"config":              {jsonModule, "github.com/tailscale/hujson", "go.yaml.in/yaml/v3"},
	"telemetry":           {"github.com/prometheus/client_golang", "go.opentelemetry.io/otel"},
	"internal/policy/limit":      {"golang.org/x/time"},
	"cmd/toolpost/internal/chat":       {"github.com/charmbracelet/x/ansi"},
	"dev/bench/chat": {"golang.org/x/sys"},
	"internal/access/callers":    {"github.com/coreos/go-oidc/v3", jsonModule, "golang.org/x/time"},
	"internal/filewatch":  {"github.com/fsnotify/fsnotify"},
	"cmd/toolpost/internal/top":        {"charm.land/bubbletea/v2"},
	"gateway":             {jsonModule},
	"dev/accept":     {"github.com/santhosh-tekuri/jsonschema/v6"},
	"cmd/toolpost":        {"github.com/spf13/cobra", "github.com/spf13/pflag"},
}

// Order checks that every package is on a floor and imports lower ones only.
func Order(files []*File) []Problem {
	var found []Problem
	for _, f := range files {
		from, known := floor(f.Package)
		if !known {
			found = append(found, f.problem(f.Syntax.Package, "package %q is on no floor", f.Package))
			continue
		}
		for _, i := range imports(f) {
			pkg, ours := strings.CutPrefix(i.path, module)
			pkg = strings.TrimPrefix(pkg, "/")
			if !ours {
				continue
			}
			if to, known := floor(pkg); !known || to >= from {
				found = append(found, Problem{i.where, "imports " + strconv.Quote(pkg) + ", which is not on a lower floor"})
			}
		}
	}
	return found
}

// Stale checks the tables themselves: every package on a floor exists, and
// imports every outside module that it may import.
func Stale(files []*File) []Problem {
	imported := map[string][]string{} // by package; a package without files is not there
	for _, f := range files {
		imported[f.Package] = append(imported[f.Package], "")
		for _, i := range imports(f) {
			imported[f.Package] = append(imported[f.Package], i.path)
		}
	}
	var found []Problem
	for _, name := range Packages() {
		if imported[name] == nil {
			found = append(found, Problem{"dev/floors/order.go", "there is no package " + strconv.Quote(name) + "; remove it from the floors"})
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

// Packages returns the packages on the floors, from the ground up.
func Packages() []string {
	var all []string
	for _, names := range floors {
		all = append(all, names...)
	}
	return all
}

func floor(pkg string) (int, bool) {
	for i, names := range floors {
		for _, name := range names {
			if name == pkg {
				return i, true
			}
		}
	}
	return len(floors), strings.HasPrefix(pkg, "internal/")
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
