package schema

import (
	"math"
	"slices"
	"unicode/utf8"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/schema/internal/ecmaregexp"
)

// A node is one schema in the form that checks raw bytes. Nodes may refer to
// each other in cycles that go deeper into the value.
type node struct {
	kinds   jsontree.Kinds // the types allowed
	choices []*choice      // enum and const; all must hold
	number  *numberRule
	text    *textRule
	array   *arrayRule
	object  *objectRule
	quick   jsontree.Kinds // the kinds that quickEnd decides

	all    []*node // apply to the same value: allOf, and a $ref with siblings
	unions []union
	not    []*node      // must not hold
	cond   *conditional // nil for none
}

// A conditional is an if with its then and else.
type conditional struct {
	test            *node
	then, otherwise *node // nil for anything
}

// branch returns what applies to a value, given whether it fits the test.
func (c *conditional) branch(fits bool) *node {
	if fits {
		return c.then
	}
	return c.otherwise
}

// A union is an anyOf or a oneOf.
type union struct {
	branches []*node
	one      bool // exactly one branch must hold
}

// plain reports whether n looks at nothing by itself.
func (n *node) plain() bool {
	return n.kinds == jsontree.KindAny && n.choices == nil && n.number == nil && n.text == nil && n.array == nil && n.object == nil
}

// single reports whether n is checked in one look at a value.
func (n *node) single() bool {
	return n.all == nil && n.unions == nil && n.not == nil && n.cond == nil
}

// A choice is a set of values.
type choice struct {
	values  []*jsontree.Value // as the schema has them
	kinds   jsontree.Kinds    // the types among them
	strings map[string]bool
	numbers map[jsontree.Decimal]bool
	plain   [3]bool // null, false, true are among them
}

func newChoice(values []*jsontree.Value) *choice {
	c := &choice{values: values, strings: map[string]bool{}, numbers: map[jsontree.Decimal]bool{}}
	for _, v := range values {
		c.kinds |= v.Kind
		switch {
		case v.Kind == jsontree.KindString:
			c.strings[v.Text] = true
		case v.Kind&jsontree.KindNumber != 0:
			c.numbers[jsontree.ParseDecimal(v.Raw)] = true
		case v.Kind&(jsontree.KindArray|jsontree.KindObject) == 0:
			c.plain[wordIndex(v.Raw)] = true
		}
	}
	return c
}

// wordIndex distinguishes null, false and true.
func wordIndex(raw []byte) int {
	switch raw[0] {
	case 'f':
		return 1
	case 't':
		return 2
	}
	return 0
}

func (c *choice) hasText(text []byte) bool { return c.strings[string(text)] }

func (c *choice) hasNumber(d jsontree.Decimal) bool { return c.numbers[d] }

func (c *choice) hasWord(raw []byte) bool { return c.plain[wordIndex(raw)] }

func (c *choice) has(v *jsontree.Value) bool {
	switch {
	case c.kinds&v.Kind == 0:
		return false
	case v.Kind == jsontree.KindString:
		return c.strings[v.Text]
	case v.Kind&jsontree.KindNumber != 0:
		return c.hasNumber(jsontree.ParseDecimal(v.Raw))
	case v.Kind&(jsontree.KindArray|jsontree.KindObject) == 0:
		return c.hasWord(v.Raw)
	}
	return slices.ContainsFunc(c.values, v.Equal)
}

// A numberRule bounds numbers.
type numberRule struct {
	min, max, multiple *jsontree.Decimal // nil for none
	aboveMin, belowMax bool              // the bounds are exclusive
	minText, maxText   string            // as the schema has them
	multipleText       string
	small              *[2]int64 // the bounds, if integers are all they are
}

// smallBounds returns the bounds of integers, nil if there is more to check.
func (r *numberRule) smallBounds() *[2]int64 {
	bounds := [2]int64{math.MinInt64, math.MaxInt64}
	for i, d := range []*jsontree.Decimal{r.min, r.max} {
		if d == nil {
			continue
		}
		n, ok := d.Small()
		if !ok {
			return nil
		}
		bounds[i] = n
	}
	if r.multiple != nil {
		return nil
	}
	if r.aboveMin {
		bounds[0]++
	}
	if r.belowMax {
		bounds[1]--
	}
	return &bounds
}

func (r *numberRule) ok(d jsontree.Decimal) bool {
	if r.min != nil {
		if c := d.Cmp(*r.min); c < 0 || c == 0 && r.aboveMin {
			return false
		}
	}
	if r.max != nil {
		if c := d.Cmp(*r.max); c > 0 || c == 0 && r.belowMax {
			return false
		}
	}
	return r.multiple == nil || d.MultipleOf(*r.multiple)
}

// A span bounds a count; hi is below 0 for no limit.
type span struct{ lo, hi int }

func (s span) ok(n int) bool { return n >= s.lo && (s.hi < 0 || n <= s.hi) }

// A textRule bounds strings. Lengths count code points.
type textRule struct {
	length  span
	pattern *ecmaregexp.Pattern
}

func (r *textRule) ok(text []byte, timeouts *int) bool {
	if l := r.length; l.lo > 0 || l.hi >= 0 {
		surely := len(text) >= utf8.UTFMax*l.lo && len(text) <= l.hi // whatever the code points
		if !surely && !l.ok(utf8.RuneCount(text)) {
			return false
		}
	}
	return r.pattern == nil || r.pattern.Match(text, timeouts)
}

// An arrayRule checks items: the first ones each by its own node, the rest by
// one.
type arrayRule struct {
	count  span
	prefix []*node
	rest   *node // nil for anything

	contains *node // nil for none
	matches  span  // of the items that fit contains
	unique   bool
}

// ok checks the number of items, and how many of them fit contains.
func (r *arrayRule) ok(count, matches int) bool {
	return r.count.ok(count) && (r.contains == nil || r.matches.ok(matches))
}

func (r *arrayRule) item(i int) *node {
	if i < len(r.prefix) {
		return r.prefix[i]
	}
	return r.rest
}

// An objectRule checks members.
type objectRule struct {
	properties []property
	index      map[string]int
	required   []uint64 // a bit for each property
	count      span
	names      *node // all names, nil for anything
	ordered    bool  // the names have no rules, so that [pass.inOrder] may read them
	rest       *node // members that are not properties and match no pattern, nil for anything
	patterns   []patternRule
	dependents []dependent
}

// A patternRule checks the members whose names match a pattern.
type patternRule struct {
	*ecmaregexp.Pattern
	node *node
}

// A dependent is what an object must satisfy if it has a property.
type dependent struct {
	property int   // index of the property
	requires []int // indexes of other properties
	node     *node // nil for anything
}

// A property is a name that the schema knows.
type property struct {
	name     string
	token    nameToken
	node     *node // nil if the name is only required
	required bool
}

// find returns the index of a property, -1 if the name is none.
func (r *objectRule) find(name string) int {
	if i, ok := r.index[name]; ok {
		return i
	}
	return -1
}

// isClosed reports whether no other names are allowed.
func (r *objectRule) isClosed() bool { return r.rest != nil && r.rest.kinds == 0 }
