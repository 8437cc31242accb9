package lower

import (
	"slices"

	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/schema"
)

// strictWithout are what strict readers take for something else than JSON Schema
// 2020-12 does, or refuse.
var strictWithout = []string{
	"$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef", "$async", "nullable",
	"formatMinimum", "formatMaximum", "formatExclusiveMinimum", "formatExclusiveMaximum",
}

// strictRules are rules of which the first that helps is taken. The last ones
// leave out the keywords that are written as they are.
func strictRules() []*Rules {
	exact := Rules{Without: strictWithout, Union: Union{OneOf: true}, Array: Array{Tuples: "open"}, Pattern: "unicode"}
	wide := exact
	wide.Without = slices.Concat(strictWithout, []string{
		"patternProperties", "propertyNames", "not", "if", "then", "else", "contains", "minContains", "maxContains",
		"dependencies", "dependentSchemas", "dependentRequired", "unevaluatedProperties", "unevaluatedItems", "additionalItems",
	})
	return []*Rules{&exact, &wide}
}

// emptyEnum is an enum without values; a string has its quotes with a backslash.
var emptyEnum = lazyregexp.New(`"enum"\s*:\s*\[\s*\]`)

// StrictOutput returns the schema of a tool's output in a form that strict readers
// accept, and what was lost: s itself if they accept it, otherwise one that every
// value of s matches. It returns nil if there is none.
func StrictOutput(s *schema.Schema) (*schema.Schema, []Loss) {
	refused := s.StrictOutput()
	if refused == nil {
		return s, nil
	}
	// Generators write an enum without values for values that they do not know.
	open, err := s.With(emptyEnum.ReplaceAllFunc(s.Raw(), func([]byte) []byte { return []byte(`"$comment":""`) }))
	if err == nil && s.IsObject() {
		for _, rules := range strictRules() {
			low := Schema(open, rules)
			if !low.Codec.Identity() || slices.ContainsFunc(low.Losses, func(l Loss) bool { return l.Kind == Narrowed || l.Kind == Rejected }) {
				continue
			}
			if written, err := s.With(low.Schema); err == nil && written.StrictOutput() == nil {
				return written, low.Losses
			}
		}
	}
	return nil, []Loss{{Keyword: "outputSchema", Kind: Dropped, Detail: "strict clients lose all tools because of it: " + refused.Error()}}
}

// StrictInput returns the schema of a tool's input in a form that strict readers
// accept, and what was lost: s itself if they accept it, otherwise one whose
// values match s. It returns nil if there is none.
func StrictInput(s *schema.Schema) (*schema.Schema, []Loss) {
	err := s.Strict()
	if err == nil {
		return s, nil
	}
	low := Schema(s, &Rules{Root: Root{Object: true}, Union: Union{OneOf: true}})
	written, broken := s.With(low.Schema)
	rejected := slices.ContainsFunc(low.Losses, func(l Loss) bool { return l.Kind == Rejected })
	if broken != nil || rejected || !low.Codec.Identity() || written.Strict() != nil {
		return nil, []Loss{{Keyword: "inputSchema", Kind: Rejected, Detail: "strict clients lose all tools because of it: " + err.Error()}}
	}
	return written, low.Losses
}
