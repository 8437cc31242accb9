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
