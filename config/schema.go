package config

import (
	_ "embed" // of the schema
)

//go:embed toolpost.schema.json
var jsonSchema string

// JSONSchema returns a JSON Schema (draft 2020-12) of toolpost.json, for editors.
// It describes every key that [Parse] reads and rejects others. A value of null,
// which Parse treats as absent, is not valid under it.
func JSONSchema() string { return jsonSchema }
