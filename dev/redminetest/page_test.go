package redminetest

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/redmine"
	"github.com/toolpost/toolpost/tooltest"
)

// TestDefinitions holds each tool as clients see it against its file. "make
// update" writes them.
func TestDefinitions(t *testing.T) { tooltest.Golden(t, toolpost.Tools(tools(t))) }

const pageFile = "../../docs/reference/redmine-tools.md"

// TestPage holds the page against the tools. "make update" writes it.
func TestPage(t *testing.T) {
	want := tables(t)
	if os.Getenv("TOOLPOST_UPDATE") != "" {
		if err := os.WriteFile(pageFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(pageFile)
	if diff := cmp.Diff(string(got), want); err != nil || diff != "" {
		t.Errorf("%s: %v; run make update\n%s", pageFile, err, diff)
	}
}

// tables have the tools of each group.
func tables(t *testing.T) string {
	var b strings.Builder
	b.WriteString("<!-- Written by make update from package redmine. -->\n\n# Tools of a Redmine\n\nThe tools of [a Redmine](../redmine.md), by the groups that `--group` and `groups` choose. Parameters that are needed are bold. Tools without a mark only read; + adds, ± changes, − removes.\n")
	for _, group := range redmine.Groups() {
		fmt.Fprintf(&b, "\n## %s\n\n| tool | | what it does | parameters |\n|---|---|---|---|\n", group)
		for _, tool := range tools(t, group) {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", tool.Name, mark(tool), strings.ReplaceAll(tool.Description, "\n", " "), parameters(t, tool))
		}
	}
	return b.String()
}

func mark(tool *toolpost.Tool) string {
	a := tool.Annotations
	switch {
	case a.ReadOnly != nil:
		return ""
	case a.Destructive != nil:
		return "+"
	case a.Idempotent == nil:
		return "±"
	}
	return "−"
}

// parameters are named in the order of the schema.
func parameters(t *testing.T, tool *toolpost.Tool) string {
	t.Helper()
	var input struct {
		Properties json.RawMessage
		Required   []string
	}
	if err := json.Unmarshal(tool.Input.Raw(), &input); err != nil {
		t.Fatal(err)
	}
	var names []string
	for d := json.NewDecoder(strings.NewReader(string(input.Properties))); ; {
		token, err := d.Token()
		if err != nil {
			break
		}
		name, isText := token.(string)
		if !isText {
			continue
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			t.Fatal(err)
		}
		if name = "`" + name + "`"; slices.Contains(input.Required, strings.Trim(name, "`")) {
			name = "**" + name + "**"
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
