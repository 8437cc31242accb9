package lower

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/shape"
)

// A Kind classifies what happened to a keyword.
type Kind string

// The kinds of losses, from harmless to fatal.
const (
	Noop      Kind = "noop"      // the meaning did not change
	Encoded   Kind = "encoded"   // another shape of exactly the same values
	Checked   Kind = "checked"   // another shape; some of its values do not decode to a value of the old shape, and the call reports them
	Described Kind = "described" // stated in the description, enforced when the tool is called
	Widened   Kind = "widened"   // more values are accepted; enforced when the tool is called
	Narrowed  Kind = "narrowed"  // some values can no longer be written
	Dropped   Kind = "dropped"   // no longer stated, enforced when the tool is called
	Rejected  Kind = "rejected"  // cannot be expressed for this reader at all
)

// rank orders kinds from harmless to fatal.
func (k Kind) rank() int {
	return slices.Index([]Kind{Noop, Encoded, Checked, Described, Widened, Narrowed, Dropped, Rejected}, k)
}

// exact reports whether values mean the same in both shapes.
func (k Kind) exact() bool { return k == Noop || k == Encoded }

// A Loss describes what happened to one keyword.
type Loss struct {
	Pointer string `json:"pointer"` // JSON pointer (RFC 6901) of the schema object in the original
	Keyword string `json:"keyword"`
	Kind    Kind   `json:"kind"`
	Detail  string `json:"detail"`
}

// Exact reports whether no value was lost or gained.
func Exact(losses []Loss) bool {
	return !slices.ContainsFunc(losses, func(l Loss) bool { return !l.Kind.exact() })
}

// notStated is the detail of a dropped keyword.
const notStated = "not stated; checked when the tool is called"

// A report collects losses.
type report struct {
	*source
	losses []Loss
	told   int             // how often something was reported
	sites  map[site]int    // the last loss of each keyword, as an index from 1
	before []int           // for each loss, the one of the same keyword before it
	whole  map[string]Loss // of schemas of which nothing is left as it was
	merged map[string]Loss // of keywords that schemas have from their parts
	twins  map[site][]Loss // of properties by name
}

// A site is a keyword of a schema, by the pointer of that.
type site struct{ at, keyword string }

func newReport(src *source) *report {
	return &report{
		source: src, sites: make(map[site]int, len(src.order)),
		whole: map[string]Loss{}, merged: map[string]Loss{}, twins: map[site][]Loss{},
	}
}

// lose reports a loss, once.
func (r *report) lose(kind Kind, at, keyword, format string, args ...any) {
	r.told++
	loss := Loss{at, keyword, kind, format}
	if len(args) > 0 {
		loss.Detail = fmt.Sprintf(format, args...)
	}
	here := site{at, keyword}
	last := r.sites[here]
	for i := last; i > 0; i = r.before[i-1] {
		if r.losses[i-1] == loss {
			return
		}
	}
	r.losses, r.before = append(r.losses, loss), append(r.before, last)
	r.sites[here] = len(r.losses)
	if !slices.Contains(r.keywords[at], keyword) {
		worsen(r.merged, loss)
	}
	if name, ok := propertyName(at); ok && kind != Noop {
		r.twins[site{name, keyword}] = append(r.twins[site{name, keyword}], loss)
	}
}

// reshape reports that all of what a schema takes is written in another shape.
func (r *report) reshape(kind Kind, at, format string, args ...any) {
	r.reshapeOf(kind, at, r.keyword(at), format, args...)
}

// reshapeOf is reshape with the keyword to name.
func (r *report) reshapeOf(kind Kind, at, keyword, format string, args ...any) {
	r.lose(kind, at, keyword, format, args...)
	worsen(r.whole, Loss{at, keyword, kind, ""})
}

// worsen keeps the worst loss of a schema, of those that are not exact.
func worsen(losses map[string]Loss, l Loss) {
	if old, ok := losses[l.Pointer]; !l.Kind.exact() && (!ok || l.Kind.rank() > old.Kind.rank()) {
		losses[l.Pointer] = l
	}
}

// propertyName returns the name of the property that a pointer leads to.
func propertyName(at string) (string, bool) {
	i := strings.LastIndexByte(at, '/')
	return at[i+1:], i >= 0 && strings.HasSuffix(at[:i], "/properties")
}

// account reports every keyword of the original that is neither in the output
// nor reported yet: said in another way, or part of what a loss above it is
// about.
func (r *report) account(out []byte) {
	written := readSource(out)
	r.affected()
	for _, at := range r.order {
		there := written.keywords[at]
		for _, k := range r.keywords[at] {
			if !slices.Contains(there, k) && r.sites[site{at, k}] == 0 {
				r.missing(written, at, k)
			}
		}
	}
}

// affected reports the alternatives that a loss is inside of: a value that
// does not fit there fits none of them.
func (r *report) affected() {
	for _, loss := range r.losses {
		if loss.Kind.exact() || loss.Kind == Narrowed {
			continue
		}
		tokens := strings.Split(loss.Pointer, "/")
		for i := len(tokens) - 2; i > 0; i-- {
			at := strings.Join(tokens[:i], "/")
			if k := tokens[i]; (k == "anyOf" || k == "oneOf" || k == "allOf") && slices.Contains(r.keywords[at], k) {
				r.lose(loss.Kind, at, k, "an alternative is %s", loss.Kind)
			}
		}
	}
}

// missing reports a keyword that is not where it was.
func (r *report) missing(written *source, at, keyword string) {
	if moved := strings.ReplaceAll(at, "/oneOf/", "/anyOf/"); moved != at && slices.Contains(written.keywords[moved], keyword) {
		r.lose(Noop, at, keyword, "moved to anyOf")
		return
	}
	if from, merged := r.referrer(at); merged && slices.Contains(written.keywords[from], keyword) {
		if _, lost := r.became(from, keyword); !lost {
			r.lose(Noop, at, keyword, "moved to %s, which refers to it", from)
			return
		}
	}
	r.inherit(at, keyword)
}

// inherit reports a keyword as what became of the nearest schema, or keyword,
// that it is part of.
func (r *report) inherit(at, keyword string) {
	if loss, ok := r.twin(at, keyword); ok {
		r.lose(loss.Kind, at, keyword, "merged with %s: %s", loss.Pointer, loss.Detail)
		return
	}
	loss, ok := r.cause(at, keyword)
	switch cause := cmp.Or(loss.Keyword, "the schema"); {
	case !ok || shape.Silent(keyword):
		r.lose(Noop, at, keyword, "written in another way")
	case strings.HasPrefix(at, loss.Pointer):
		r.lose(loss.Kind, at, keyword, "follows from %s above", cause)
	default:
		r.lose(loss.Kind, at, keyword, "follows from %s of %s", cause, loss.Pointer)
	}
}

// maxCauses bounds how far cause looks: references may form a cycle.
const maxCauses = 200

// cause returns the loss of the nearest schema, or keyword, that a keyword is
// part of.
func (r *report) cause(at, keyword string) (loss Loss, ok bool) {
	for range maxCauses {
		if loss, ok = r.became(at, keyword); ok || at == "" {
			break
		}
		from, merged := r.referrer(at)
		if !merged {
			at, keyword = r.above(at)
			continue
		}
		if loss, ok = r.became(from, keyword); ok {
			break
		}
		at, keyword = from, "$ref"
	}
	return loss, ok
}

// became returns the loss that all below a keyword of a schema is part of.
func (r *report) became(at, keyword string) (Loss, bool) {
	if loss, ok := r.whole[at]; ok {
		return loss, true
	}
	if slices.Contains([]string{"anyOf", "oneOf", "allOf", "$ref"}, keyword) {
		if loss, ok := r.merged[at]; ok {
			return loss, true
		}
	}
	worst := Loss{Kind: Noop}
	for i := r.sites[site{at, keyword}]; i > 0; i = r.before[i-1] {
		if loss := r.losses[i-1]; loss.Kind.rank() > worst.Kind.rank() {
			worst = loss
		}
	}
	return worst, !worst.Kind.exact()
}

// above returns the schema around the one at a pointer, and the keyword of that
// which has it.
func (s *source) above(at string) (pointer, keyword string) {
	for at != "" {
		i := strings.LastIndexByte(at, '/')
		at, keyword = at[:i], at[i+1:]
		if s.keywords[at] != nil && slices.Contains(s.keywords[at], keyword) {
			break
		}
	}
	return at, keyword
}

// twin returns the loss of the same keyword of another schema for a property of
// the same name: allOf and references say what a value is in several places,
// which are one after merging.
func (r *report) twin(at, keyword string) (Loss, bool) {
	name, ok := propertyName(at)
	if !ok {
		return Loss{}, false
	}
	for _, loss := range r.twins[site{name, keyword}] {
		if loss.Pointer != at {
			return loss, true
		}
	}
	return Loss{}, false
}
