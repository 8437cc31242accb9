package lower

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Kind says what happened to a keyword.
type Kind string

// The kinds of losses, from harmless to fatal.
const (
	Noop      Kind = "noop"      // nothing changed in meaning
	Encoded   Kind = "encoded"   // another shape of exactly the same values
	Checked   Kind = "checked"   // another shape; some values of it decode to none of the old, and the call reports them
	Described Kind = "described" // told in the description, enforced when the tool is called
	Widened   Kind = "widened"   // more values are accepted; enforced when the tool is called
	Narrowed  Kind = "narrowed"  // some values cannot be written any more
	Dropped   Kind = "dropped"   // not told any more; enforced when the tool is called
	Rejected  Kind = "rejected"  // cannot be told to this reader at all
)

// rank orders kinds from harmless to fatal.
func (k Kind) rank() int {
	return slices.Index([]Kind{Noop, Encoded, Checked, Described, Widened, Narrowed, Dropped, Rejected}, k)
}

// exact says that values mean the same in both shapes.
func (k Kind) exact() bool { return k == Noop || k == Encoded }

// A Loss is what became of one keyword.
type Loss struct {
	Pointer string `json:"pointer"` // JSON pointer (RFC 6901) of the schema object in the original
	Keyword string `json:"keyword"`
	Kind    Kind   `json:"kind"`
	Detail  string `json:"detail"`
}

// Exact says that no value was lost or gained.
func Exact(losses []Loss) bool {
	return !slices.ContainsFunc(losses, func(l Loss) bool { return !l.Kind.exact() })
}

// notTold is the detail of what is dropped.
const notTold = "not told; checked when the tool is called"

// A report collects losses.
type report struct {
	*source
	losses []Loss
	told   int // how often something was reported
	said   map[Loss]bool
	named  map[site][]Loss // by the last token of the pointer; those that matter
}

// A site is a keyword of a schema: its pointer, or the last token of that.
type site struct{ at, keyword string }

func newReport(src *source) *report {
	return &report{source: src, said: map[Loss]bool{}, named: map[site][]Loss{}}
}

// lose reports a loss, once.
func (r *report) lose(kind Kind, at, keyword, format string, args ...any) {
	r.told++
	loss := Loss{at, keyword, kind, fmt.Sprintf(format, args...)}
	if r.said[loss] {
		return
	}
	r.said[loss] = true
	r.losses = append(r.losses, loss)
	if name, ok := lastToken(at); ok && kind != Noop {
		r.named[site{name, keyword}] = append(r.named[site{name, keyword}], loss)
	}
}

// lastToken returns the last token of a pointer, as it is written there; the
// root has none.
func lastToken(at string) (string, bool) {
	i := strings.LastIndexByte(at, '/')
	return at[i+1:], i >= 0
}

// reshape reports that what a schema takes is written in another shape.
func (r *report) reshape(kind Kind, at, format string, args ...any) {
	r.lose(kind, at, r.keyword(at), format, args...)
}

// account reports every keyword of the original that is neither in the output
// nor reported yet: said in another way, or part of what a loss above it is
// about.
func (r *report) account(out []byte) {
	written := readSource(out)
	reported := map[site]bool{}
	above := map[string]Loss{}
	for _, loss := range r.losses {
		reported[site{loss.Pointer, loss.Keyword}] = true
		if old, ok := above[loss.Pointer]; !ok || loss.Kind.rank() > old.Kind.rank() {
			above[loss.Pointer] = loss
		}
	}
	r.affected()
	for _, at := range r.order {
		for _, k := range r.keywords[at] {
			if !reported[site{at, k}] && !slices.Contains(written.keywords[at], k) {
				r.inherit(above, at, k)
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

// inherit reports a keyword as what the nearest loss above it did.
func (r *report) inherit(above map[string]Loss, at, keyword string) {
	if loss, ok := r.twin(at, keyword); ok {
		r.lose(loss.Kind, at, keyword, "merged with %s: %s", loss.Pointer, loss.Detail)
		return
	}
	for p := at; ; p = p[:strings.LastIndexByte(p, '/')] {
		if loss, ok := above[p]; ok && !loss.Kind.exact() && !isAnnotation(keyword) {
			r.lose(loss.Kind, at, keyword, "part of what became of %s above", cmp.Or(loss.Keyword, "the schema"))
			return
		}
		if p == "" {
			r.lose(Noop, at, keyword, "said in another way")
			return
		}
	}
}

// twin returns the loss of the same keyword of another schema for the same
// property: allOf and references say what a value is in several places, which
// are one after merging.
func (r *report) twin(at, keyword string) (Loss, bool) {
	name, _ := lastToken(at)
	for _, loss := range r.named[site{name, keyword}] {
		if loss.Pointer != at {
			return loss, true
		}
	}
	return Loss{}, false
}

func isAnnotation(keyword string) bool {
	return slices.Contains([]string{"title", "description", "default", "examples", "$schema", "$id", "$comment", "$defs", "definitions", "deprecated", "readOnly", "writeOnly"}, keyword)
}
