package config

import (
	"os"
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
