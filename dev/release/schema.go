package main

import (
	"os"
	"path/filepath"
)

// writeSchema writes the JSON Schema of toolpost.json, which editors read.
func writeSchema(r *release) error {
	const name = "toolpost.schema.json"
	data, err := os.ReadFile(filepath.Join(r.source, "config", name))
	if err != nil {
		return err
	}
	return r.put(name, data)
}
