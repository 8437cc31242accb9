package config

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// Every key that is read is told in docs/configuration.md.
func TestKeysAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	tell := func(name string) {
		if !strings.Contains(string(doc), "`"+name+"`") {
			t.Errorf("docs/configuration.md does not tell of %q", name)
		}
	}
	for name := range fileKeys {
		tell(name)
	}
	for _, name := range knownKeys() {
		tell(name)
	}
}

// Every key is in one column of the table of docs/security.md that describes which
// changes apply at once: a new key needs a decision.
func TestKeysHaveOneClass(t *testing.T) {
	doc, err := os.ReadFile("../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	for of, keys := range map[string][]string{
		"the file itself": slices.Collect(maps.Keys(fileKeys)), "one server": knownKeys(), "one profile": slices.Collect(maps.Keys(profileKeys)),
	} {
		_, row, found := strings.Cut(string(doc), "\n| "+of+" | ")
		row, _, _ = strings.Cut(row, "\n")
		listed := strings.Fields(strings.NewReplacer("|", "", "`", "").Replace(row))
		slices.Sort(keys)
		slices.Sort(listed)
		if !found || !slices.Equal(listed, keys) {
			t.Errorf("docs/security.md lists the keys of %s as\n%v, want each once:\n%v", of, listed, keys)
		}
	}
}

// TestSettingsAreThoseThatApplyAtOnce compares the table with the guard, for the keys of
// a server whose values can be made up.
func TestSettingsAreThoseThatApplyAtOnce(t *testing.T) {
	doc, err := os.ReadFile("../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, row, _ := strings.Cut(string(doc), "\n| one server | ")
	atOnce, rest, _ := strings.Cut(row, " | ")
	waits, _, _ := strings.Cut(rest, " | ")
	values := map[string]string{
		"connectTimeout": `"1s"`, "disabledTools": `["a"]`, "enabledTools": `["a"]`, "extensions": `false`, "limits": `{"rate": "1/s"}`, "maxMessage": `9`, "output": `false`,
		"prefix": `"p"`, "protocolVersion": `"2025-06-18"`, "required": `true`, "timeout": `"1s"`,
		"args": `["a"]`, "cwd": `"x"`, "env": `{"A": "b"}`, "exclude_tags": `["a"]`, "include_tags": `["a"]`, "newTools": `"withhold"`,
		"pins": `false`, "share": `"per-client"`, "tools": `{"get": {"description": "d"}}`,
	}
	before, err := Parse("toolpost.json", []byte(`{"mcpServers": {"s": {"command": "x"}}}`), os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range values {
		next, err := Parse("toolpost.json", []byte(`{"mcpServers": {"s": {"command": "x", "`+name+`": `+value+`}}}`), os.LookupEnv)
		if err != nil {
			t.Fatal(err)
		}
		_, waiting := NewGuard(before).Admit(before, next, "")
		if is := strings.Contains(waits, "`"+name+"`"); is != (waiting != nil) || is == strings.Contains(atOnce, "`"+name+"`") {
			t.Errorf("%s waits: %v, in the table: %v", name, waiting != nil, is)
		}
	}
}
