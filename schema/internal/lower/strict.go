package lower

import (
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/schema"
)

// strictRules are rules of which the first that helps is taken. The last ones
// leave out the keywords that are written as they are.
func strictRules() []*Rules {
	without := []string{ // strict readers take them for something else than JSON Schema 2020-12 does, or refuse them
		"$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef", "$async", "nullable",
		"formatMinimum", "formatMaximum", "formatExclusiveMinimum", "formatExclusiveMaximum",
	}
	exact := Rules{Without: without, Union: Union{OneOf: true}, Array: Array{Tuples: "open"}, Pattern: "unicode"}
	wide := exact
	wide.Without = append(slices.Clone(without),
		"patternProperties", "propertyNames", "not", "if", "then", "else", "contains", "minContains", "maxContains",
		"dependencies", "dependentSchemas", "dependentRequired", "unevaluatedProperties", "unevaluatedItems", "additionalItems")
	return []*Rules{&exact, &wide}
}

// withoutEmptyEnums returns a schema without the keyword enum where it has no values;
// generators write that for values that they do not know. The schema is returned as it
// is if it has none.
func withoutEmptyEnums(raw []byte) []byte {
	root, broken := jsontree.Parse(raw, shape.MaxLevels)
	if broken != nil {
		return raw
	}
	e := enumEditor{schemas: map[*jsontree.Value]bool{root: true}}
	if written := e.append(nil, root); e.removed {
		return written
	}
	return raw
}

// An enumEditor writes a schema without empty enums.
type enumEditor struct {
	schemas map[*jsontree.Value]bool // values that are schemas, as far as they were reached
	removed bool
}

func (e *enumEditor) append(b []byte, v *jsontree.Value) []byte {
	if len(v.Kids) == 0 {
		return append(b, v.Raw...)
	}
	b = append(b, v.Raw[0])
	begun := false
	for _, kid := range v.Kids {
		if e.schemas[v] {
			if kid.Name == "enum" && kid.Kind == jsontree.KindArray && len(kid.Kids) == 0 {
				e.removed = true
				continue
			}
			for _, held := range shape.Held(kid) {
				e.schemas[held] = true
			}
		}
		if begun {
			b = append(b, ',')
		}
		if begun = true; v.Kind == jsontree.KindObject {
			b = append(wire.AppendQuote(b, kid.Name), ':')
		}
		b = e.append(b, kid)
	}
	return append(b, v.Raw[0]+2) // the closing bracket
}

// StrictOutput returns the schema of a tool's output in a form that strict readers
// accept, and what was lost: s itself if they accept it, otherwise one that every
// value of s matches. It returns nil if there is none.
func StrictOutput(s *schema.Schema) (*schema.Schema, []Loss) {
	err := s.StrictOutput()
	if err == nil {
		return s, nil
	}
	return rewriteStrict(s, "strict clients lose all tools because of it: "+err.Error())
}

// AnonymousOutput returns the schema of a tool's output without ids, for a list in
// which another schema has one of them. It returns nil if there is none.
func AnonymousOutput(s *schema.Schema) (*schema.Schema, []Loss) {
	return rewriteStrict(s, "another schema has its $id")
}

// rewriteStrict writes s for strict readers; why is the reason if it fails.
func rewriteStrict(s *schema.Schema, why string) (*schema.Schema, []Loss) {
	open, err := s.With(withoutEmptyEnums(s.Raw()))
	if err == nil && s.IsObject() {
		for _, rules := range strictRules() {
			low := Schema(open, rules)
			if !low.Codec.Identity() || slices.ContainsFunc(low.Losses, func(l Loss) bool { return l.Kind == Narrowed || l.Kind == Rejected }) {
				continue
			}
			if written, err := s.With(low.Schema); err == nil && written.StrictOutput() == nil {
				return written, append([]Loss{{Keyword: "outputSchema", Kind: Noop, Detail: why}}, low.Losses...)
			}
		}
	}
	return nil, []Loss{{Keyword: "outputSchema", Kind: Dropped, Detail: why}}
}

// StrictInput returns the schema of a tool's input in a form that strict readers
// accept, and what was lost: s itself if they accept it, otherwise one whose
// values match s. It returns nil if there is none.
func StrictInput(s *schema.Schema) (*schema.Schema, []Loss) {
	err := s.Strict()
	if err == nil {
		return s, nil
	}
	if written := withObjectType(s); written != nil {
		return written, []Loss{{Keyword: "type", Kind: Noop, Detail: err.Error()}}
	}
	low := Schema(s, &Rules{Root: Root{Object: true}, Union: Union{OneOf: true}})
	written, broken := s.With(low.Schema)
	rejected := slices.ContainsFunc(low.Losses, func(l Loss) bool { return l.Kind == Rejected })
	if broken != nil || rejected || !low.Codec.Identity() || written.Strict() != nil {
		return nil, []Loss{{Keyword: "inputSchema", Kind: Rejected, Detail: "strict clients lose all tools because of it: " + err.Error()}}
	}
	return written, low.Losses
}

// withObjectType returns s with the type of its root in lower case, nil if strict readers
// refuse it for another reason. The types below keep the case that an API wants.
func withObjectType(s *schema.Schema) *schema.Schema {
	if kind := wire.Unquote(wire.Get(s.Raw(), "type")); kind == "object" || !strings.EqualFold(kind, "object") {
		return nil
	}
	written, err := s.With(wire.Set(s.Raw(), "type", []byte(`"object"`)))
	if err != nil || written.Strict() != nil {
		return nil
	}
	return written
}
