package schema

import (
	"encoding"
	stdjson "encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// An inference walks a type. It notes errors and goes on, so that all of them
// are reported at once.
type inference struct {
	output   bool
	timed    bool                  // a time.Duration was described
	open     map[reflect.Type]bool // the types being described, from the root down
	names    defNames              // the types under $defs: those that contain themselves
	defs     object
	findings findings
	errs     []error
}

type findings []Finding

func (f *findings) add(at place, format string, args ...any) {
	*f = append(*f, Finding{Pointer: string(at.pointer), Message: label(at.path) + fmt.Sprintf(format, args...)})
}

// move changes the pointers that begin with from.
func (f findings) move(from, to string) {
	for i := range f {
		if rest, ok := strings.CutPrefix(f[i].Pointer, from); ok {
			f[i].Pointer = to + rest
		}
	}
}

// A place is where a type stands: its path in Go, for people, and the JSON
// pointer of its schema.
type place struct {
	path    string
	pointer jsontext.Pointer
}

func (p place) items() place {
	return place{p.path + "[]", p.pointer.AppendToken("items")}
}

func (p place) values() place {
	return place{p.path + "[]", p.pointer.AppendToken("additionalProperties")}
}

func (p place) field(f *field) place {
	return place{p.path + "." + f.path, p.pointer.AppendToken("properties").AppendToken(f.name)}
}

// fail notes an error and returns a draft to go on with.
func (in *inference) fail(path, format string, args ...any) *draft {
	in.errs = append(in.errs, fmt.Errorf("%s%w", label(path), fmt.Errorf(format, args...)))
	return &draft{}
}

// label begins a message about a path. A root without a name has none.
func label(path string) string {
	if path = strings.TrimPrefix(path, "."); path == "" {
		return ""
	}
	return path + ": "
}

// root describes t in place, even if it contains itself.
func (in *inference) root(t reflect.Type) *draft {
	d := in.of(t, place{path: shortName(deref(t))})
	d.null = false // a result that may be missing is not declared
	if name := in.names[deref(t)]; name != "" {
		d = &draft{object: slices.Clone(in.defs.get(name).(*draft).object)}
	}
	if len(in.defs) > 0 {
		d.set("$defs", in.defs)
	}
	return d
}

// of describes a type, or a pointer to it.
func (in *inference) of(t reflect.Type, at place) *draft {
	elem := deref(t)
	if elem.Kind() == reflect.Pointer {
		return in.fail(at.path, "a pointer to a pointer to a pointer cannot be described; use one pointer")
	}
	d := in.typeOrRef(elem, at)
	d.null = in.output && t != elem && len(d.object) > 0
	return d
}

// deref follows as many pointers as an author could have meant: a type may
// point to itself.
func deref(t reflect.Type) reflect.Type {
	for range 2 {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
	}
	return t
}

// typeOrRef describes a type. One that contains itself is described once, under
// $defs, and is referred to.
func (in *inference) typeOrRef(t reflect.Type, at place) *draft {
	if in.open[t] && in.names[t] == "" {
		in.names.add(t)
	}
	if name := in.names[t]; name != "" {
		return refTo(t, name)
	}
	if t.Name() != "" || t.Kind() == reflect.Struct { // other types contain themselves only through one of these
		in.open[t] = true
		defer delete(in.open, t)
	}
	before := len(in.findings)
	d := in.describe(t, at)
	name := in.names[t]
	if name == "" {
		return d
	}
	in.defs = append(in.defs, member{name, d})
	if at.pointer != "" { // the root is described in place too
		in.findings[before:].move(string(at.pointer), "/$defs/"+name)
	}
	return refTo(t, name)
}

func (in *inference) describe(t reflect.Type, at place) *draft {
	if d := in.knownType(t); d != nil {
		return d
	}
	if d := in.declaredDraft(t, at); d != nil {
		return d
	}
	var d *draft
	values := in.enum(t, at)
	switch {
	case ownJSON(t, in.output):
		if d = sameKind(values); values == nil {
			in.findings.add(at, "%v writes its own JSON, so any value is allowed; describe it with a method JSONSchema() *schema.Schema", t)
		}
	case ownText(t, in.output):
		if d = kindDraft(jsontree.KindString); !in.output && !implements[encoding.TextUnmarshaler](t) {
			in.findings.add(at, "%v is written as text but cannot be read from text; give it a method UnmarshalText", t)
		}
	default:
		d = in.byKind(t, at)
	}
	if values == nil || d.kind == jsontree.KindArray || d.kind == jsontree.KindObject {
		return d
	}
	if v := misfit(values, d.kind); v != nil {
		return in.fail(at.path, "%v lists %s in Enum, but is written as %s", t, v, typeName(d.kind))
	}
	return (&draft{kind: d.kind, object: d.object[:min(1, len(d.object))]}).set("enum", values) // bounds say less
}

// knownType describes the types that encoding/json, or everybody, knows, nil if
// t is none of them.
func (in *inference) knownType(t reflect.Type) *draft {
	switch t {
	case reflect.TypeFor[stdjson.RawMessage](), reflect.TypeFor[jsontext.Value]():
		return &draft{}
	case reflect.TypeFor[time.Time]():
		return kindDraft(jsontree.KindString).set("format", "date-time")
	case reflect.TypeFor[time.Duration]():
		d := kindDraft(jsontree.KindInteger).set("description", nanoseconds)
		d.unit, in.timed = nanoseconds, true
		return d
	case reflect.TypeFor[big.Int]():
		return kindDraft(jsontree.KindInteger)
	case reflect.TypeFor[stdjson.Number]():
		return kindDraft(jsontree.KindNumber)
	}
	return nil
}

func (in *inference) byKind(t reflect.Type, at place) *draft {
	switch k := t.Kind(); k {
	case reflect.Bool:
		return kindDraft(jsontree.KindBoolean)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return integer(t)
	case reflect.Float32, reflect.Float64:
		return kindDraft(jsontree.KindNumber)
	case reflect.String:
		return kindDraft(jsontree.KindString)
	case reflect.Struct:
		return in.structure(t, at)
	case reflect.Slice, reflect.Array:
		return in.list(t, at)
	case reflect.Map:
		return in.dictionary(t, at)
	case reflect.Interface:
		if !in.output && t.NumMethod() > 0 {
			return in.fail(at.path, "%v cannot be read from JSON; use any or a concrete type", t)
		}
		return &draft{}
	default:
		return in.fail(at.path, `%v cannot be written as JSON; leave it out with json:"-"`, k)
	}
}

// integer describes integers, with bounds where fewer than 64 bits have them.
func integer(t reflect.Type) *draft {
	d := kindDraft(jsontree.KindInteger)
	bits := t.Bits()
	unsigned := t.Kind() >= reflect.Uint
	switch {
	case unsigned:
		d.set("minimum", jsontext.Value("0"))
		if bits < 64 {
			d.set("maximum", bound(1<<bits-1))
		}
	case bits < 64:
		d.set("minimum", bound(-1<<(bits-1)))
		d.set("maximum", bound(1<<(bits-1)-1))
	}
	return d
}

func bound(n int64) jsontext.Value { return jsontext.Value(strconv.FormatInt(n, 10)) }

func (in *inference) list(t reflect.Type, at place) *draft {
	if elem := t.Elem(); t.Kind() == reflect.Slice && elem.Kind() == reflect.Uint8 && plain(elem) {
		return kindDraft(jsontree.KindString).set("contentEncoding", "base64")
	}
	d := kindDraft(jsontree.KindArray).set("items", in.of(t.Elem(), at.items()))
	if t.Kind() == reflect.Array {
		d.set("minItems", t.Len()).set("maxItems", t.Len())
	}
	return d
}

// dictionary describes a map. Its keys are strings in JSON, whatever they are in Go.
func (in *inference) dictionary(t reflect.Type, at place) *draft {
	d := kindDraft(jsontree.KindObject)
	switch key := t.Key(); {
	case key.Kind() == reflect.String, ownText(key, true):
		if values := in.enum(key, at); values != nil {
			d.set("propertyNames", object{{"enum", values}})
		}
	case reflect.Int <= key.Kind() && key.Kind() <= reflect.Uintptr:
		d.set("propertyNames", object{{"pattern", numeral(key.Kind())}})
	default:
		return in.fail(at.path, "a map key of type %v cannot be a JSON name; use a string, an integer or an encoding.TextMarshaler", key)
	}
	return d.set("additionalProperties", in.of(t.Elem(), at.values()))
}

// numeral is the pattern of a number written as text.
func numeral(k reflect.Kind) string {
	switch {
	case k >= reflect.Uint && k <= reflect.Uintptr:
		return `^(0|[1-9][0-9]*)$`
	case k <= reflect.Int64:
		return `^-?(0|[1-9][0-9]*)$`
	}
	return `^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`
}

// ownJSON reports whether t has methods for its JSON. A type that is only read may
// accept more than Go writes, so a method for reading counts on input.
func ownJSON(t reflect.Type, output bool) bool {
	return implements[json.Marshaler](t) || implements[json.MarshalerTo](t) ||
		!output && (implements[json.Unmarshaler](t) || implements[json.UnmarshalerFrom](t))
}

// ownText reports whether t has methods that make it a JSON string.
func ownText(t reflect.Type, output bool) bool {
	return implements[encoding.TextMarshaler](t) || implements[encoding.TextAppender](t) ||
		!output && implements[encoding.TextUnmarshaler](t)
}

// plain reports whether the JSON of t follows from its kind.
func plain(t reflect.Type) bool { return !ownJSON(t, true) && !ownText(t, true) }

// implements reports whether t or *t has the methods of I.
func implements[I any](t reflect.Type) bool {
	i := reflect.TypeFor[I]()
	return t.Kind() != reflect.Interface && (t.Implements(i) || reflect.PointerTo(t).Implements(i))
}
