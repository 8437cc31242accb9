package schema

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/lazyregexp"
)

const defsPrefix = "#/$defs/"

// defNames are the names that types have under $defs.
type defNames map[reflect.Type]string

// add gives t a name that no other type has.
func (n defNames) add(t reflect.Type) string {
	base := strings.Trim(notInNames.ReplaceAllString(shortName(t), "_"), "_")
	if base == "" {
		base = "Object"
	}
	name := base
	for i := 2; slices.Contains(slices.Collect(maps.Values(n)), name); i++ {
		name = fmt.Sprintf("%s_%d", base, i)
	}
	n[t] = name
	return name
}

var (
	notInNames = lazyregexp.New(`[^A-Za-z0-9_.-]+`)
	importPath = lazyregexp.New(`[^\[\],*]*/`)
)

// shortName is the name of a type, with packages but not their import paths.
func shortName(t reflect.Type) string { return importPath.ReplaceAllString(t.Name(), "") }

// refTo drafts a reference to the definition of t.
func refTo(t reflect.Type, name string) *draft {
	d := &draft{}
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		d.kind = jsontree.KindObject
	case reflect.Slice, reflect.Array:
		d.kind = jsontree.KindArray
	}
	return d.set("$ref", defsPrefix+name)
}
