//go:build unix

package live

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// damagedServers is how many servers TestDamagedDefinitions has.
const damagedServers = 24

// A listing is what a client got from one address.
type listing struct {
	URL    string
	Errors map[string]string   // by the member of a list, or "connect"
	Names  map[string][]string // of the items of each list
	Last   string              // the text of the last call, or its error
	Read   []string            // the texts of all resources; nil if the client reads none
}

// TestDamagedDefinitions serves servers that list damaged definitions, each beside
// a good one, without a dialect: no official client loses an item that is not
// damaged, or waits in vain, and calls that bring a damaged result leave the
// session as it is.
func TestDamagedDefinitions(t *testing.T) {
	node(t)
	good := newGoodServer()
	servers := map[string]any{"good": map[string]any{"url": good.start(t)}}
	profiles := map[string]any{}
	var bad []*damagedServer
	for seed := range uint64(damagedServers) {
		s := newDamagedServer(seed)
		bad = append(bad, s)
		servers[s.name] = map[string]any{"url": s.start(t)}
		profiles["p"+s.name] = map[string]any{"servers": []string{"good", s.name}}
	}
	file := filepath.Join(t.TempDir(), "toolpost.json")
	write(t, file, marshal(map[string]any{"mcpServers": servers, "profiles": profiles, "dialect": "none"}))
	_, url := gateway(t, file)
	var urls []string
	for _, s := range bad {
		urls = append(urls, url+"/mcp/p"+s.name)
	}
	for i, s := range bad { // a client that comes before a server has answered does not see its tools
		until(t, s.name+" is listed", func() error {
			for _, l := range lists {
				body := firstRequest(t, urls[i], l.method)
				for _, name := range []string{"hello", s.intact[l.member][0]} {
					if !bytes.Contains(body, []byte(name)) {
						return fmt.Errorf("%s lacks %s: %.200s", l.method, name, body)
					}
				}
			}
			return nil
		})
	}
	calls := marshal(damagedCalls())
	for name, ask := range damageClients(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers := ask(t, calls, urls)
			if len(answers) != len(bad) {
				t.Fatalf("%d answers from %d addresses", len(answers), len(bad))
			}
			for i, a := range answers {
				a.check(t, good, bad[i])
			}
		})
	}
}

// damagedCalls are calls of tools whose results are damaged, and one that is not,
// at the end. Clients write the name of the damaged server for SERVER.
func damagedCalls() (all []call) {
	for i := 0; i < 12; i += 2 {
		all = append(all, call{Name: fmt.Sprintf("SERVER__tools_%d", i), Arguments: map[string]any{}})
	}
	return append(all, call{Name: "good__hello", Arguments: map[string]any{}})
}

// check compares an answer with what is not damaged.
func (a listing) check(t *testing.T, good, bad *damagedServer) {
	t.Helper()
	if why := a.Errors["connect"]; why != "" {
		t.Errorf("%s: %s", a.URL, why)
		return
	}
	for _, l := range lists {
		if why := a.Errors[l.member]; why != "" {
			t.Errorf("%s: %s: %s\n\t%.3000s", a.URL, l.method, why, bad.result[l.method])
			continue
		}
		for _, s := range []*damagedServer{good, bad} {
			for _, name := range s.intact[l.member] {
				if l.key == "name" {
					name = s.name + "__" + name
				}
				if !slices.Contains(a.Names[l.member], name) {
					t.Errorf("%s: %s lacks %s", a.URL, l.method, name)
				}
			}
		}
	}
	for _, uri := range bad.odd {
		if a.Read != nil && !slices.Contains(a.Read, uri) {
			t.Errorf("%s: %q is not read: %q", a.URL, uri, a.Read)
		}
	}
	if a.Last != "hello" {
		t.Errorf("%s: the last call answers %q", a.URL, a.Last)
	}
}

// damageClients has the official clients.
func damageClients(t *testing.T) map[string]func(*testing.T, string, []string) []listing {
	typescript := func(mode, pkg string) func(*testing.T, string, []string) []listing {
		return func(t *testing.T, calls string, urls []string) []listing {
			return ran(t, node(t), append([]string{testdata(t, "lists.mjs"), mode, peer(t, pkg, "", "."), calls}, urls...)...)
		}
	}
	python := func(pkg string) func(*testing.T, string, []string) []listing {
		return func(t *testing.T, calls string, urls []string) []listing {
			return ran(t, pythonOf(t, pkg), append([]string{testdata(t, "lists.py"), calls}, urls...)...)
		}
	}
	return map[string]func(*testing.T, string, []string) []listing{
		"typescript 1":            typescript("1", "@modelcontextprotocol/sdk"),
		"typescript 2 legacy":     typescript("legacy", "@modelcontextprotocol/client"),
		"typescript 2 2026-07-28": typescript("2026-07-28", "@modelcontextprotocol/client"),
		"python 1":                python("mcp-server-sqlite"), // its clients parse URIs
		"python 2":                python("fastmcp"),
		"java": func(t *testing.T, calls string, urls []string) []listing {
			jars := filepath.Join(os.Getenv("TOOLPOST_LIVE"), "java-mcp-0.17.0")
			java, err := exec.LookPath("java")
			if _, missing := os.Stat(jars); err != nil || missing != nil {
				t.Skipf("a JDK and the SDK in %s are needed (%v): dev/live/install.sh installs it with mvn", jars, errors.Join(err, missing))
			}
			return ran(t, java, append([]string{"-cp", jars + "/*", testdata(t, "Lists.java"), calls}, urls...)...)
		},
		"go":   askWithGo,
		"rust": askLikeRust,
	}
}

// testdata returns the path of a file in testdata.
func testdata(t *testing.T, name string) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// ran runs a client that writes an answer a line.
func ran(t *testing.T, name string, args ...string) (answers []listing) {
	t.Helper()
	stdout, stderr, err := run(t, nil, name, args...)
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, tail(stdout, 3), tail(stderr, 30))
	}
	for line := range strings.Lines(stdout) {
		var a listing
		if json.Unmarshal([]byte(line), &a) == nil && a.URL != "" {
			answers = append(answers, a)
		}
	}
	return answers
}

// askWithGo asks with the official Go SDK.
func askWithGo(t *testing.T, calls string, urls []string) (answers []listing) {
	var list []call
	if err := json.Unmarshal([]byte(calls), &list); err != nil {
		t.Fatal(err)
	}
	for _, url := range urls {
		a := listing{URL: url, Errors: map[string]string{}, Names: map[string][]string{}}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		client := mcp.NewClient(&mcp.Implementation{Name: "live", Version: "1"}, nil)
		s, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url}, nil)
		if err != nil {
			a.Errors["connect"] = err.Error()
		} else {
			a.list(ctx, s)
			for _, c := range list {
				name := strings.ReplaceAll(c.Name, "SERVER", url[strings.LastIndex(url, "/p")+2:])
				r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: c.Arguments})
				if err != nil {
					a.Last = err.Error()
				} else if len(r.Content) == 0 {
					a.Last = ""
				} else if text, ok := r.Content[0].(*mcp.TextContent); ok {
					a.Last = text.Text
				}
			}
			s.Close() //nolint:errcheck // it has answered
		}
		cancel()
		answers = append(answers, a)
	}
	return answers
}

func (a *listing) list(ctx context.Context, s *mcp.ClientSession) {
	note := func(member string, err error) {
		if err != nil {
			a.Errors[member] = err.Error()
		}
	}
	tools, err := s.ListTools(ctx, nil)
	if note("tools", err); err == nil {
		for _, item := range tools.Tools {
			a.Names["tools"] = append(a.Names["tools"], item.Name)
		}
	}
	prompts, err := s.ListPrompts(ctx, nil)
	if note("prompts", err); err == nil {
		for _, item := range prompts.Prompts {
			a.Names["prompts"] = append(a.Names["prompts"], item.Name)
		}
	}
	resources, err := s.ListResources(ctx, nil)
	if note("resources", err); err == nil {
		for _, item := range resources.Resources {
			a.Names["resources"] = append(a.Names["resources"], item.URI)
		}
	}
	templates, err := s.ListResourceTemplates(ctx, nil)
	if note("resourceTemplates", err); err == nil {
		for _, item := range templates.ResourceTemplates {
			a.Names["resourceTemplates"] = append(a.Names["resourceTemplates"], item.URITemplate)
		}
	}
}
