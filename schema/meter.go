package schema

import (
	"encoding/json"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// A meter ends a validation that takes too many steps or too long.
type meter struct {
	left     int
	unseen   int // steps since the last look at the clock
	deadline time.Time
}

// Limits on one validation. The clock does not matter to small values.
const (
	maxTime    = 250 * time.Millisecond
	clockSteps = 256
)

func (m *meter) start(steps int) {
	m.left, m.unseen, m.deadline = steps, 0, time.Now().Add(maxTime)
}

func (m *meter) charge(steps int) {
	if m.deadline.IsZero() { // while compiling
		return
	}
	m.left -= steps
	m.unseen += steps
	if m.unseen > clockSteps {
		m.unseen = 0
		if time.Now().After(m.deadline) {
			panic(errGaveUp)
		}
	}
	if m.left < 0 {
		panic(errGaveUp)
	}
}

// A meteredPattern charges for matches: schemas of pattern properties are
// visited only where the name matches.
type meteredPattern struct {
	*pattern
	meter *meter
}

// MatchString reports whether the pattern matches somewhere in text.
func (p meteredPattern) MatchString(text string) bool {
	p.meter.charge(1 + len(text)/16)
	timeouts := 0
	ok := p.match([]byte(text), &timeouts)
	if timeouts > 0 {
		panic(errGaveUp)
	}
	return ok
}

// vocabulary makes the full validator call a visit for each schema, as if it
// were a keyword.
func (m *meter) vocabulary() *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL: "mem:///meter",
		Compile: func(_ *jsonschema.CompilerContext, s map[string]any) (jsonschema.SchemaExt, error) {
			v := &visit{meter: m, steps: 1}
			for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
				branches, _ := s[keyword].([]any)
				v.steps += len(branches)
			}
			if values, ok := s[enumKeyword].([]any); ok {
				v.enum = newEnumeration(values)
			}
			return v, nil
		},
	}
}

// A visit is one schema applied to one value.
type visit struct {
	meter *meter
	steps int
	enum  *enumeration
}

// Validate charges the visit: errors cost by depth, objects and arrays by size.
func (v *visit) Validate(ctx *jsonschema.ValidatorContext, value any) {
	size := len(ctx.ValueLocation())
	switch value := value.(type) {
	case map[string]any:
		size += len(value)
	case []any:
		size += len(value)
	}
	v.meter.charge(v.steps + size/8)
	if v.enum != nil && !v.has(ctx, value) {
		ctx.AddError(&kind.Enum{Got: value, Want: v.enum.all})
	}
}

// enumKeyword is the name of large enums while they are compiled: the full
// validator would compare a value with all choices, and before any visit.
const (
	enumKeyword = "mem:///enum"
	largeEnum   = 16
)

// An enumeration is a large enum.
type enumeration struct {
	all     []any
	strings map[string]bool
	numbers map[decimal]bool
	rest    []any
}

func newEnumeration(all []any) *enumeration {
	e := &enumeration{all: all, strings: map[string]bool{}, numbers: map[decimal]bool{}}
	for _, v := range all {
		switch v := v.(type) {
		case string:
			e.strings[v] = true
		case json.Number:
			e.numbers[parseDecimal([]byte(v))] = true
		default:
			e.rest = append(e.rest, v)
		}
	}
	return e
}

func (v *visit) has(ctx *jsonschema.ValidatorContext, value any) bool {
	switch value := value.(type) {
	case string:
		return v.enum.strings[value]
	case json.Number:
		return v.enum.numbers[parseDecimal([]byte(value))]
	}
	for _, choice := range v.enum.rest {
		v.meter.charge(1)
		if same, err := ctx.Equals(value, choice); same && err == nil {
			return true
		}
	}
	return false
}

// ownEnums renames large enums, and says whether there are unevaluated
// properties or items.
func (d *document) ownEnums() (unevaluated bool) {
	seen := map[*value]bool{}
	for todo := []*value{d.root}; len(todo) > 0; {
		v := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[v] {
			continue
		}
		seen[v] = true
		todo = d.below(v, todo)
		if k := v.get("enum"); k != nil && len(k.kids) > largeEnum {
			k.name = enumKeyword
		}
		unevaluated = unevaluated || v.get("unevaluatedProperties") != nil || v.get("unevaluatedItems") != nil
	}
	return unevaluated
}

// widest returns the largest number of parts that a value in v has.
func (v *value) widest() int {
	most := len(v.kids)
	for _, kid := range v.kids {
		most = max(most, kid.widest())
	}
	return most
}
