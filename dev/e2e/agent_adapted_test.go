package e2e_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/dev/historytest"
	"github.com/toolpost/toolpost/dev/modeltest"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/schema"
)

const adaptedSchema = `{"type":"object","properties":{
	"target":{"oneOf":[{"type":"string"},{"$ref":"#/$defs/node"}]},
	"mode":{"type":"string","enum":["fast","slow"],"default":"fast"},
	"limit":{"type":"integer","minimum":1,"default":10},
	"labels":{"type":"object","additionalProperties":{"type":"string"}}},
	"required":["target"],
	"$defs":{"node":{"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#/$defs/node"}}},"required":["name"]}}}`

// TestAdaptedTools calls a tool whose name and schema no provider takes as they
// are. The handler receives arguments of the tool's own schema, and the
// conversation goes on with every other provider.
func TestAdaptedTools(t *testing.T) {
	name := "files.search" + strings.Repeat(".with-a-long-name", 6)
	toolName := regexp.MustCompile(`"name":\s?"(files[^"]*)"`)
	for _, p := range historytest.Providers() {
		t.Run(p.Name, func(t *testing.T) {
			var got []string
			tool := &toolpost.Tool{Handler: func(_ context.Context, c *toolpost.Call) (*toolpost.Result, error) {
				got = append(got, string(c.Arguments))
				return toolpost.TextResult("found"), nil
			}}
			tool.Name, tool.Description, tool.Input = name, "Searches.", schema.MustParse(adaptedSchema)
			tools := toolpost.Tools{tool}

			probe := modeltest.Serve(t, p.Wire, modeltest.Turn{Parts: say("x")})
			m, err := p.Open(probe.URL)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := agent.New(m, tools, nil).Do(t.Context(), agent.NewSession(), say("x")...); err != nil {
				t.Fatal(err)
			}
			found := toolName.FindSubmatch(probe.Requests()[0])
			if found == nil {
				t.Fatalf("no tool in %s", probe.Requests()[0])
			}
			wire := string(found[1])
			args := []string{`{"target":"a"}`, `{"target":{"name":"n","children":[{"name":"m","children":[]}]},"limit":3}`}
			var calls []model.Part
			for i, a := range args {
				calls = append(calls, model.Part{Type: model.TypeCall, ID: "call_" + string(rune('a'+i)), Name: wire, Arguments: json.RawMessage(a)})
			}
			server := modeltest.Serve(t, p.Wire, modeltest.Turn{Parts: calls}, modeltest.Turn{Parts: say("Done.")})
			if m, err = p.Open(server.URL); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "s")
			s, err := agent.OpenSession(path)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = s.Close() }()
			if _, err := agent.New(m, tools, &agent.Options{Parallel: 1}).Do(t.Context(), s, say("go")...); err != nil {
				t.Fatal(err)
			}
			want := []string{`{"target":"a","mode":"fast","limit":10}`, `{"target":{"name":"n","children":[{"name":"m","children":[]}]},"limit":3,"mode":"fast"}`}
			if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
				t.Errorf("the handler received %q", got)
			}
			for _, c := range s.Messages()[1].Calls() {
				if c.Name != name || c.Invalid != "" {
					t.Errorf("%+v", c)
				}
			}
			for _, other := range historytest.Providers() {
				end := modeltest.Serve(t, other.Wire, modeltest.Turn{Parts: say("And on.")})
				next, err := other.Open(end.URL)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := agent.New(next, tools, nil).Do(t.Context(), s, say("go on")...); err != nil {
					t.Fatalf("%s: %v", other.Name, err)
				}
				names := map[string]int{}
				for _, f := range toolName.FindAllSubmatch(end.Requests()[0], -1) {
					names[string(f[1])]++
				}
				if len(names) != 1 {
					t.Errorf("%s to %s: %v", p.Name, other.Name, names)
				}
			}
		})
	}
}

func say(text string) []model.Part { return []model.Part{{Type: model.TypeText, Text: text}} }
