package main

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"
)

// TestBillOfMaterials: the SBOM of the program has its modules, each once and with its
// checksum.
func TestBillOfMaterials(t *testing.T) {
	if os.Getenv("TOOLPOST_LIVE") == "" {
		t.Skip("make live builds the program as it is released")
	}
	program, err := build()
	if err != nil {
		t.Fatal(err)
	}
	data, err := billOfMaterials(program, "v9.8.7", time.Unix(1700000000, 0).UTC())
	if err != nil {
		t.Fatal(err)
	}
	var d document
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	if d.Metadata.Component.PURL != "pkg:golang/github.com/toolpost/toolpost@v9.8.7" || d.Metadata.Timestamp != "2023-11-14T22:13:20Z" {
		t.Errorf("the SBOM is of %+v", d.Metadata)
	}
	seen := map[string]bool{}
	for _, c := range d.Components {
		if seen[c.Ref] || c.Version == "" || c.Name != "std" && (len(c.Hashes) != 1 || len(c.Hashes[0].Content) != 64) {
			t.Errorf("the component %+v is there twice or not complete", c)
		}
		seen[c.Ref] = true
	}
	for _, name := range []string{"std", "github.com/spf13/cobra", "github.com/go-json-experiment/json"} {
		if !slices.ContainsFunc(d.Components, func(c component) bool { return c.Name == name }) {
			t.Errorf("the SBOM lacks %s", name)
		}
	}
}
