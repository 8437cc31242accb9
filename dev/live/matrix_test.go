//go:build unix

package live

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMatrix lets each client do each step over each transport in each version
// of the protocol, through the built gateway, with a server of each era. What
// does not work has a reason in matrixExceptions, and has to fail.

// A column is a way to connect.
type column struct{ transport, version string }

// The last version of each era.
const legacy, modern = "2025-11-25", "2026-07-28"

var columns = []column{
	{"http", legacy}, {"sse", legacy}, {"stdio", legacy},
	{"http", modern}, {"sse", modern}, {"stdio", modern},
}

// A client is a row.
type client struct {
	name, peer, version string // peer and version as in peers.txt or pypi.txt
	prepare             func(*testing.T, client) func(*testing.T, assignment) []verdict
}

var clients = []client{
	{"TypeScript SDK 1", "@modelcontextprotocol/sdk", "1", javascript("ts1.mjs")},
	{"TypeScript SDK 2", "@modelcontextprotocol/client", "2", javascript("ts2.mjs")},
	{"Python `mcp`", "mcp", "2", python("mcp_client.py")},
	{"Python `fastmcp`", "fastmcp", "4", python("fastmcp_client.py")},
	{inspectorName, "@modelcontextprotocol/inspector", "2", inspectorClient},
}

const inspectorName = "Inspector (`mcpdo`)"

var matrixSteps = []string{"list", "call", "elicit", "sample", "roots", "progress", "cancel", "subscribe", "changed"}

// wanted is what a step has to give with a server.
func wanted(server, step string) any {
	switch step {
	case "list":
		var names []any
		for _, tool := range matrixTools {
			names = append(names, server+"__"+tool)
		}
		return names
	case "progress":
		return []any{[]any{1., 3., "step 1"}, []any{2., 3., "step 2"}, []any{3., 3., "step 3"}, "resumed"}
	case "cancel":
		return []any{"rejected", "canceled"}
	case "changed":
		name := []any{server + "__grown"}
		return map[string]any{"tools": name, "prompts": name, "resources": []any{"live://" + server + "/grown"}}
	}
	return map[string]any{
		"call": "echo: hi", "elicit": "accept: Ada (Who is it?)", "sample": "answer to 2+2", "roots": "file:///live", "subscribe": "version 1",
	}[step]
}

// An exception is something that does not work, and why. What is empty in it
// means all; without a step, it is the whole cell. The error that shows it is a
// regular expression.
type exception struct{ client, transport, version, step, err, why string }

var matrixExceptions = []exception{
	{"TypeScript SDK 1", "", modern, "", "unknown version", "version 1 of the SDK ends with 2025-11-25"},
	{"", "sse", modern, "", `2026-07-28\\*" is not supported`, "2026-07-28 has no SSE transport, and the gateway refuses it there"},
	{inspectorName, "", "", "sample", "sampling|cannot answer requests", "`mcpdo` does not declare sampling"},
	{inspectorName, "", "", "progress", "no command", "`mcpdo` has no command that shows progress"},
	{inspectorName, "", "", "cancel", "killed after", "`mcpdo` sends nothing to the server when a command is interrupted"},
	{inspectorName, "", "", "changed", "no command", "`mcpdo` has no command that shows changed lists"},
}

// exceptionOf returns the exception that holds for a step, or for the whole cell.
func exceptionOf(client string, c column, step string) *exception {
	fits := func(of, value string) bool { return of == "" || of == value }
	for _, e := range matrixExceptions {
		if fits(e.client, client) && fits(e.transport, c.transport) && fits(e.version, c.version) && fits(e.step, step) {
			return &e
		}
	}
	return nil
}

// An assignment is what a script has to do. The name of each member is known in testdata/matrix.
type assignment struct {
	Library   string   `json:"library"` // the folder that it is installed in
	Transport string   `json:"transport"`
	Version   string   `json:"version"`
	Target    []string `json:"target"` // a URL, or a command
	Servers   []string `json:"servers"`
	Patience  int64    `json:"patience"` // with one step, in milliseconds

	waiting map[string]chan struct{} // a call of wait has begun
}

// A verdict is a line that a script writes.
type verdict struct {
	Server, Step string
	Got          any
	Error        string
}

func TestMatrix(t *testing.T) {
	node(t) // or skip
	toolpost := build(t, "cmd/toolpost")
	for _, client := range clients {
		for _, column := range columns {
			t.Run(fmt.Sprintf("%s %s %s", strings.ReplaceAll(client.name, "`", ""), column.transport, column.version), func(t *testing.T) {
				t.Parallel()
				run := client.prepare(t, client)
				config, waiting := matrixUpstreams(t)
				file := filepath.Join(t.TempDir(), "toolpost.json")
				write(t, file, config)
				a := assignment{waiting: waiting, Transport: column.transport, Version: column.version, Servers: matrixServers, Patience: patience.Milliseconds()}
				a.Target = []string{toolpost, "serve", "--stdio", "--config", file}
				if column.transport != "stdio" {
					_, url := gateway(t, file)
					a.Target = []string{url + map[string]string{"http": "/mcp", "sse": "/sse"}[column.transport]}
				}
				compareVerdicts(t, client, column, run(t, a))
			})
		}
	}
}

// compareVerdicts compares what happened with what had to.
func compareVerdicts(t *testing.T, client client, column column, verdicts []verdict) {
	var seen []string
	for _, v := range verdicts {
		seen = append(seen, strings.TrimSpace(v.Server+" "+v.Step))
		want := any(column.version)
		if v.Step != "connect" {
			want = wanted(v.Server, v.Step)
		}
		diff, e := v.Error, exceptionOf(client.name, column, v.Step)
		if diff == "" {
			diff = cmp.Diff(want, v.Got)
		}
		switch {
		case e == nil && diff != "":
			t.Errorf("%s %s: -want +got\n%s", v.Server, v.Step, diff)
		case e != nil && diff == "" && v.Step != "connect": // a client may not ask the server while it connects
			t.Errorf("%s %s works: remove its exception (%s)", v.Server, v.Step, e.why)
		case e != nil && diff != "" && !regexp.MustCompile(e.err).MatchString(diff):
			t.Errorf("%s %s fails, but for another reason than %s: %s", v.Server, v.Step, e.why, diff)
		}
	}
	if exceptionOf(client.name, column, "") != nil && len(seen) > 0 {
		return
	}
	want := []string{"connect"}
	for _, step := range matrixSteps {
		for _, server := range matrixServers {
			want = append(want, server+" "+step)
		}
	}
	slices.Sort(want)
	slices.Sort(seen)
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("steps: -want +got\n%s", diff)
	}
}

// javascript runs a script of testdata/matrix with node.
func javascript(script string) func(*testing.T, client) func(*testing.T, assignment) []verdict {
	return func(t *testing.T, c client) func(*testing.T, assignment) []verdict {
		node, library := node(t), peer(t, c.peer, c.version, ".")
		return func(t *testing.T, a assignment) []verdict {
			a.Library = library
			return verdictsOf(t, a, node, script)
		}
	}
}

// python runs a script of testdata/matrix with the interpreter that has fastmcp,
// which needs mcp.
func python(script string) func(*testing.T, client) func(*testing.T, assignment) []verdict {
	return func(t *testing.T, c client) func(*testing.T, assignment) []verdict {
		interpreter := pythonOf(t, "fastmcp")
		return func(t *testing.T, a assignment) []verdict { return verdictsOf(t, a, interpreter, script) }
	}
}

func verdictsOf(t *testing.T, a assignment, interpreter, script string) (verdicts []verdict) {
	t.Helper()
	script, err := filepath.Abs(filepath.Join("testdata", "matrix", script))
	if err != nil {
		t.Fatal(err)
	}
	prepared, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr, err := run(t, []string{"PYTHONDONTWRITEBYTECODE=1"}, interpreter, script, string(prepared))
	for line := range strings.Lines(stdout) {
		var v verdict
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		verdicts = append(verdicts, v)
	}
	if err != nil || stderr != "" {
		t.Logf("%v: %s", err, tail(stderr, 40))
	}
	return verdicts
}

const matrixPage = "../../docs/evidence/clients.md"

// TestMatrixPage holds docs/evidence/clients.md against the tables above. "make update"
// writes it.
func TestMatrixPage(t *testing.T) {
	want := matrixOf()
	if os.Getenv("TOOLPOST_UPDATE") != "" {
		write(t, matrixPage, want)
	}
	got, err := os.ReadFile(matrixPage)
	if diff := cmp.Diff(string(got), want); err != nil || diff != "" {
		t.Errorf("%v; run make update\n%s", err, diff)
	}
}

//go:embed testdata/matrix/page.md
var matrixText string

// matrixOf writes the page: a row for each client, transport and version.
func matrixOf() string {
	var b strings.Builder
	var notes []string
	fmt.Fprintf(&b, "%s\n| client | version | transport | %s |\n|---|---|---%s|\n", matrixText, strings.Join(matrixSteps, " | "), strings.Repeat("|:-:", len(matrixSteps)))
	for _, client := range clients {
		for _, column := range columns {
			if exceptionOf(client.name, column, "") != nil {
				continue
			}
			fmt.Fprintf(&b, "| %s %s | %s | %s |", client.name, installedVersion(client.peer, client.version), column.version, column.transport)
			for _, step := range matrixSteps {
				cell := " ✓ |"
				if e := exceptionOf(client.name, column, step); e != nil {
					if !slices.Contains(notes, e.why) {
						notes = append(notes, e.why)
					}
					cell = fmt.Sprintf(" %d |", slices.Index(notes, e.why)+1)
				}
				b.WriteString(cell)
			}
			b.WriteString("\n")
		}
	}
	for i, why := range notes {
		fmt.Fprintf(&b, "\n%d. %s.", i+1, why)
	}
	b.WriteString("\n\nRows that are missing:\n\n")
	for _, e := range matrixExceptions {
		if e.step == "" {
			fmt.Fprintf(&b, "- %s: %s.\n", strings.Join(slices.DeleteFunc([]string{e.client, e.transport, e.version}, func(s string) bool { return s == "" }), ", "), e.why)
		}
	}
	return b.String()
}
