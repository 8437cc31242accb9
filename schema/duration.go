package schema

import (
	"reflect"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// nanoseconds is what Go writes a time.Duration in.
const nanoseconds = "nanoseconds"

// durationExpected describes a time.Duration to a model that wrote another string.
const durationExpected = `a duration (write "5m", "1h30m" or a number of nanoseconds)`

// ValidateInput validates data and returns it. Unlike [Schema.Validate] it also
// accepts strings such as "5m" or "1h30m" where the Go type that s was inferred from
// has a time.Duration, and returns data with their nanoseconds, which encoding/json
// reads. The error is a *[ValidationError].
func (s *Schema) ValidateInput(data []byte) ([]byte, error) {
	err := s.Validate(data)
	if err == nil {
		return data, nil
	}
	if s.timed == nil {
		return nil, err
	}
	tree, broken := jsontree.Parse(data, shape.MaxLevels)
	if broken != nil {
		return nil, err
	}
	r := durationReader{data: data, fields: map[reflect.Type]map[string]*field{}, wrong: map[string]bool{}}
	r.read(s.timed, tree, false)
	if r.out != nil {
		data = append(r.out, data[r.copied:]...)
		if err = s.Validate(data); err == nil {
			return data, nil
		}
	}
	if invalid, ok := err.(*ValidationError); ok {
		for i, p := range invalid.Problems {
			if r.wrong[p.Pointer] {
				invalid.Problems[i].Expected = durationExpected
			}
		}
	}
	return nil, err
}

// A durationReader copies JSON, with the strings that Go is to read into a
// time.Duration as numbers.
type durationReader struct {
	data   []byte
	out    []byte // data before copied, nil if nothing was changed
	copied int
	path   []string
	fields map[reflect.Type]map[string]*field
	wrong  map[string]bool // pointers of the strings that are not a duration
}

// read reads a value that Go reads into a t. If quoted is set, it is a string that
// holds the JSON of the t.
func (r *durationReader) read(t reflect.Type, v *jsontree.Value, quoted bool) {
	t = deref(t)
	switch list := t.Kind() == reflect.Slice || t.Kind() == reflect.Array; {
	case t == reflect.TypeFor[time.Duration]():
		r.duration(v, quoted)
	case ownJSON(t, false), ownText(t, false), list != (v.Kind == jsontree.KindArray):
	default:
		for i, kid := range v.Kids {
			r.part(t, i, kid)
		}
	}
}

// part reads an item or a member of a value that Go reads into a t.
func (r *durationReader) part(t reflect.Type, i int, v *jsontree.Value) {
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		r.in(strconv.Itoa(i), t.Elem(), v, false)
	case reflect.Map:
		r.in(v.Name, t.Elem(), v, false)
	case reflect.Struct:
		if f := r.fieldsOf(t)[v.Name]; f != nil {
			r.in(v.Name, f.sf.Type, v, f.quoted)
		}
	}
}

// fieldsOf returns the fields of a struct by their names in JSON.
func (r *durationReader) fieldsOf(t reflect.Type) map[string]*field {
	named, known := r.fields[t]
	if !known {
		named = map[string]*field{}
		for _, f := range fields(&inference{}, t, "") {
			named[f.name] = &f
		}
		r.fields[t] = named
	}
	return named
}

// in reads a part of a value.
func (r *durationReader) in(token string, t reflect.Type, v *jsontree.Value, quoted bool) {
	r.path = append(r.path, token)
	r.read(t, v, quoted)
	r.path = r.path[:len(r.path)-1]
}

func (r *durationReader) duration(v *jsontree.Value, quoted bool) {
	if v.Kind != jsontree.KindString {
		return
	}
	number, ok := parseDuration(v.Text)
	if !ok {
		r.wrong[jsontree.Pointer(r.path)] = true
		return
	}
	if quoted {
		number = quoteText(string(number))
	}
	r.out = append(append(r.out, r.data[r.copied:v.Start]...), number...)
	r.copied = v.Start + len(v.Raw)
}

// parseDuration returns the nanoseconds of a text such as 5m.
func parseDuration(text string) (jsontext.Value, bool) {
	d, err := time.ParseDuration(text)
	return bound(int64(d)), err == nil
}
