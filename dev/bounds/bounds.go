// Package bounds finds what an input schema lets grow without limit. Our own
// tools must have no such place: a caller fills it until memory or time ends.
package bounds

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// A node is a JSON Schema as far as it limits sizes.
type node struct {
	Type                 string           `json:"type"`
	Enum                 []any            `json:"enum"`
	Const                any              `json:"const"`
	MaxLength            *int             `json:"maxLength"`
	MaxItems             *int             `json:"maxItems"`
	MaxProperties        *int             `json:"maxProperties"`
	Items                *node            `json:"items"`
	Properties           map[string]*node `json:"properties"`
	PropertyNames        *node            `json:"propertyNames"`
	AdditionalProperties json.RawMessage  `json:"additionalProperties"`
}

// Unbounded returns the places of an input schema that set no limit: texts
// without maxLength, lists without maxItems, and objects with free names
// without maxProperties or without a limit of these names. A schema that it
// does not understand is such a place too.
func Unbounded(schema []byte) ([]string, error) {
	var n node
	if err := json.Unmarshal(schema, &n); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	return n.unbounded("arguments"), nil
}

func (n *node) unbounded(at string) []string {
	if len(n.Enum) > 0 || n.Const != nil {
		return nil
	}
	switch n.Type {
	case "boolean", "integer", "number", "null":
		return nil
	case "string":
		if n.MaxLength == nil {
			return []string{at + " has no maxLength"}
		}
		return nil
	case "array":
		return n.list(at)
	case "object":
		return n.object(at)
	}
	return []string{fmt.Sprintf("%s has the type %q, which has no known limit", at, n.Type)}
}

func (n *node) list(at string) (found []string) {
	if n.MaxItems == nil {
		found = append(found, at+" has no maxItems")
	}
	if n.Items == nil {
		return append(found, at+" has items of any kind")
	}
	return append(found, n.Items.unbounded(at+"[]")...)
}

func (n *node) object(at string) (found []string) {
	for _, name := range slices.Sorted(maps.Keys(n.Properties)) {
		found = append(found, n.Properties[name].unbounded(at+"."+name)...)
	}
	if string(n.AdditionalProperties) == "false" {
		return found
	}
	if n.MaxProperties == nil {
		found = append(found, at+" has no maxProperties")
	}
	if n.PropertyNames == nil || n.PropertyNames.MaxLength == nil {
		found = append(found, at+" has names without a maxLength")
	}
	var values node
	if json.Unmarshal(n.AdditionalProperties, &values) != nil {
		return append(found, at+" has values of any kind")
	}
	return append(found, values.unbounded(at+".*")...)
}
