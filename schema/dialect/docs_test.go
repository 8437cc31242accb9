package dialect_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/schema/dialect"
)

const rulesFolder = "../../docs/rules"

// TestRulePages compares the pages of the rules with the code. "make update"
// writes them.
func TestRulePages(t *testing.T) {
	pages := map[string]string{"README.md": rulesIndex()}
	for _, r := range dialect.Rules() {
		pages[r.Name+".md"] = rulePage(r)
	}
	if os.Getenv("TOOLPOST_UPDATE") != "" {
		if err := os.RemoveAll(rulesFolder); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(rulesFolder, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, page := range pages {
			if err := os.WriteFile(filepath.Join(rulesFolder, name), []byte(page), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	entries, err := os.ReadDir(rulesFolder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if pages[e.Name()] == "" {
			t.Errorf("%s is not the page of a rule; run make update", e.Name())
		}
	}
	for name, page := range pages {
		got, err := os.ReadFile(filepath.Join(rulesFolder, name))
		if diff := cmp.Diff(string(got), page); err != nil || diff != "" {
			t.Errorf("%s: %v; run make update\n%s", name, err, diff)
		}
	}
}

const generated = "<!-- Written by make update from package dialect. -->\n\n"

func rulesIndex() string {
	var b bytes.Buffer
	b.WriteString(generated)
	b.WriteString(`# Rules

The requirements of readers, one page for each rule: the requirement, what goes wrong, what to do, and the evidence. A reader is a client or a model API that receives tools. Each dialect describes one reader; see [dialects](../dialects.md). *Adapting* is what Toolpost does when it rewrites a tool for a reader.

The name of a finding consists of the dialect and the rule, such as ` + "`claude-desktop/no-union`" + `. A few rules apply to every reader, for example those against losing all tools of a server; their findings begin with ` + "`all/`" + `.

| rule | requirement | required by |
|---|---|---|
`)
	for _, r := range dialect.Rules() {
		by := []string{"every reader"}
		if !r.All {
			by = nil
			for _, d := range demanding(r) {
				by = append(by, d.ID)
			}
			if len(by) == len(dialect.All()) {
				by = []string{"every dialect"}
			}
		}
		fmt.Fprintf(&b, "| [%s](%s.md) | %s | %s |\n", r.Name, r.Name, cell(r.What), strings.Join(by, ", "))
	}
	return b.String()
}

func demanding(r *dialect.Rule) []*dialect.Dialect {
	return slices.DeleteFunc(dialect.All(), func(d *dialect.Dialect) bool { return !r.Demanded(d) })
}

func rulePage(r *dialect.Rule) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s# %s\n\n%s\n\n**Why.** %s\n\n**What to do.** %s\n\n", generated, r.Name, r.What, r.Why, r.Fix)
	dialects := demanding(r)
	switch {
	case r.All:
		fmt.Fprintf(&b, "The rule applies to every reader: its findings are `all/%s`. Unless evidence below says otherwise, the effect is: %s.\n\n", r.Name, r.Effect)
	case len(dialects) == 0:
		b.WriteString("No built-in dialect requires it; a dialect in a configuration may.\n")
		return b.String()
	}
	rows := ""
	for _, d := range dialects {
		rows += evidence(r, d)
	}
	if rows != "" {
		b.WriteString("| dialect | effect | versions | known since | evidence |\n|---|---|---|---|---|\n" + rows)
	}
	return b.String()
}

// evidence returns a row for each source of d that is evidence for the rule.
func evidence(r *dialect.Rule, d *dialect.Dialect) string {
	rows := ""
	name := fmt.Sprintf("[%s](../dialects.md#dialects)", d.ID)
	for _, s := range d.Form().Sources {
		if !slices.Contains(s.Rules, r.Name) {
			continue
		}
		known := s.Source
		if s.Note != "" {
			known = s.Note + " (" + s.Source + ")"
		}
		rows += fmt.Sprintf("| %s | %s | %s | %s %s | %s |\n", name, s.Effect, cell(s.Versions), s.How, s.Date, cell(known))
		name = ""
	}
	if rows == "" && !r.All {
		rows = fmt.Sprintf("| %s | %s | | | follows from what the reader accepts |\n", name, r.EffectFor(d))
	}
	return rows
}

// cell writes text into a cell of a table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(s)
}
