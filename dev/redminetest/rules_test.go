package redminetest

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/redmine"
	"github.com/toolpost/toolpost/schema/dialect"
	"github.com/toolpost/toolpost/tooltest"
)

// tools are those of the groups, all without any. None of them is called.
func tools(t *testing.T, groups ...string) []*toolpost.Tool {
	t.Helper()
	s, err := redmine.New(&redmine.Options{URL: "http://127.0.0.1:3999", Anonymous: true, Groups: groups})
	if err != nil {
		t.Fatal(err)
	}
	all, err := s.Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestLint: every client and model takes the tools as they are served to it. As
// they are, it does but for keywords that it does not know, and what it wants of
// optional or no arguments.
func TestLint(t *testing.T) {
	const byGroup = "which groups of tools there are is for the user to choose"
	all := tools(t)
	for _, d := range dialect.All() {
		t.Run(d.ID, func(t *testing.T) {
			o := &dialect.Options{Server: "redmine", Off: map[string]string{"tool-count": byGroup, "token-count": byGroup}}
			adapted := d.Adapt(all, o)
			for _, w := range adapted.Withheld {
				t.Errorf("%s is withheld: %s: %s", w.Name, w.Rule, w.Why)
			}
			var served toolpost.Tools
			for _, a := range adapted.Tools {
				if a.Input != nil { // else there are no arguments
					served = append(served, a.Tool)
				}
			}
			tooltest.Lint(t, served, d.ID, o)
			for _, rule := range []string{"keyword", "all-required", "root-empty", "closed"} {
				o.Off[rule] = "is adapted"
			}
			tooltest.Lint(t, toolpost.Tools(all), d.ID, o)
		})
	}
}

// TestDefinitionsAreShort holds what the definitions cost a model in each request.
func TestDefinitionsAreShort(t *testing.T) {
	cost := func(groups ...string) (sum int) {
		for _, tool := range tools(t, groups...) {
			sum += dialect.Tokens(tool)
		}
		return sum
	}
	if all := cost(); all > 12_000 {
		t.Errorf("all definitions have %d tokens", all)
	}
	if everyday := cost("issues", "time"); everyday > 5_000 {
		t.Errorf("the definitions of the groups issues and time have %d tokens", everyday)
	}
}

// TestRules: some clients lose all tools for one text of more than four lines or
// with brackets or underscores, or for one union of types.
func TestRules(t *testing.T) {
	names := map[string]bool{}
	for _, tool := range tools(t) {
		if names[tool.Name] {
			t.Errorf("two tools are called %s", tool.Name)
		}
		names[tool.Name] = true
		for where, what := range breaks(tool.Description, tool.Input.Raw()) {
			t.Errorf("%s: %s: %s", tool.Name, where, what)
		}
		if reads := tool.Annotations.ReadOnly != nil && *tool.Annotations.ReadOnly; tool.Title == "" || reads != readName.MatchString(tool.Name) {
			t.Errorf("%s has no title, or the wrong hint on whether it only reads", tool.Name)
		}
	}
}

// readName is the name of a tool that only reads.
var readName = regexp.MustCompile(`^(list|show|get|download|search)`)

// TestRulesBreak: each rule finds what breaks it.
func TestRulesBreak(t *testing.T) {
	for _, bad := range []struct{ description, schema string }{
		{"", `{"type":"object"}`},
		{"1\n2\n3\n4\n5", `{"type":"object"}`},
		{"Lists (all).", `{"type":"object"}`},
		{"Lists by project_id.", `{"type":"object"}`},
		{"Lists.", `{"type":"object","properties":{"a":{"type":"string","description":"As sort_by"}}}`},
		{"Lists.", `{"type":"object","properties":{"a":{"type":"array","items":{"type":["string","null"]}}}}`},
		{"Lists.", `{"type":"object","properties":{"a":{"oneOf":[{"type":"string"}]}}}`},
	} {
		if len(breaks(bad.description, json.RawMessage(bad.schema))) == 0 {
			t.Errorf("%q %s: nothing is found", bad.description, bad.schema)
		}
	}
}

// breaks tells where a tool breaks the rules, and how.
func breaks(description string, input json.RawMessage) map[string]string {
	found := map[string]string{}
	text := func(where, s string) {
		switch {
		case strings.TrimSpace(s) == "":
			found[where] = "the description is empty"
		case strings.Count(s, "\n") >= 4:
			found[where] = "the description has more than 4 lines"
		case strings.ContainsAny(s, "()_"):
			found[where] = "the description has brackets or underscores: " + s
		}
	}
	text("description", description)
	var walk func(where string, schema any)
	walk = func(where string, schema any) {
		switch v := schema.(type) {
		case []any:
			for _, item := range v {
				walk(where, item)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				at := where + "/" + name
				s, isText := v[name].(string)
				_, isList := v[name].([]any)
				switch {
				case name == "description" && isText:
					text(at, s)
				case name == "type" && isList, name == "anyOf", name == "oneOf", name == "allOf":
					found[at] = "a union of types"
				}
				walk(at, v[name])
			}
		}
	}
	var schema any
	if err := json.Unmarshal(input, &schema); err != nil {
		found["input"] = err.Error()
	}
	walk("input", schema)
	return found
}
