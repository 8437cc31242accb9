package lower

import (
	"cmp"
	"fmt"
	"path"
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

// Kinds returns the kinds from harmless to fatal.
func Kinds() []Kind {
	return []Kind{Noop, Encoded, Checked, Described, Widened, Narrowed, Dropped, Rejected}
}

// Rank orders kinds from harmless to fatal.
func (k Kind) Rank() int { return slices.Index(Kinds(), k) }

// Exact reports whether no value was lost or gained: values mean the same in both shapes.
func (k Kind) Exact() bool { return k == Noop || k == Encoded }

// A Loss describes what happened to one keyword.
type Loss struct {
	Pointer string `json:"pointer"` // JSON pointer (RFC 6901) of the schema object in the original
	Keyword string `json:"keyword"`
	Kind    Kind   `json:"kind"`
	Detail  string `json:"detail"`
}

// notStated is the detail of a dropped keyword.
const notStated = "not stated; checked when the tool is called"

// A report collects losses.
type report struct {
	*source
	losses []Loss
	told   int             // how often something was reported
	known  map[Loss]bool   // those in losses
	worst  map[site]Loss   // of each keyword, the worst loss that is not exact
	whole  map[string]Loss // of schemas of which nothing is left as it was, the worst loss
	merged map[string]Loss // of keywords that schemas have from their parts, the worst loss
	twins  map[site]Loss   // of keywords of properties, by name instead of pointer, the worst loss
	sites  map[site]bool   // keywords with a loss
}

// A site is a keyword of a schema, by the pointer of that.
type site struct{ at, keyword string }

func newReport(src *source) *report {
	return &report{
		source: src, known: map[Loss]bool{}, worst: map[site]Loss{},
		whole: map[string]Loss{}, merged: map[string]Loss{}, twins: map[site]Loss{}, sites: make(map[site]bool, len(src.order)),
	}
}

// lose reports a loss, once.
func (r *report) lose(kind Kind, at, keyword, format string, args ...any) {
	r.told++
	loss := Loss{at, keyword, kind, format}
	if len(args) > 0 {
		loss.Detail = fmt.Sprintf(format, args...)
	}
	if r.known[loss] {
		return
	}
	r.losses, r.known[loss], r.sites[site{at, keyword}] = append(r.losses, loss), true, true
	worsen(r.worst, site{at, keyword}, loss)
	if !slices.Contains(r.keywords[at], keyword) {
		worsen(r.merged, at, loss)
	}
	if strings.HasSuffix(path.Dir(at), "/properties") {
		worsen(r.twins, site{path.Base(at), keyword}, loss)
	}
}

// reshape reports that all of what a schema takes is written in another shape.
func (r *report) reshape(kind Kind, at, format string, args ...any) {
	r.reshapeOf(kind, at, r.keyword(at), format, args...)
}

// reshapeOf is reshape with the keyword to name.
func (r *report) reshapeOf(kind Kind, at, keyword, format string, args ...any) {
	r.lose(kind, at, keyword, format, args...)
	worsen(r.whole, at, Loss{at, keyword, kind, ""})
}

// worsen keeps the worst loss by a key, of those that are not exact.
func worsen[K comparable](losses map[K]Loss, key K, l Loss) {
	if old, ok := losses[key]; !l.Kind.Exact() && (!ok || l.Kind.Rank() > old.Kind.Rank()) {
		losses[key] = l
	}
}

// account reports every keyword of the original that is neither in the output
// nor reported yet: said in another way, or part of what a loss above it is
// about.
func (r *report) account(out []byte) {
	written := readSource(out)
	r.addAlternatives()
	for _, at := range r.order {
		there := written.keywords[at]
		for _, k := range r.keywords[at] {
			if !slices.Contains(there, k) && !r.sites[site{at, k}] {
				r.missing(written, at, k)
			}
		}
	}
}

// addAlternatives reports the alternatives that a loss is inside of: a value
// that does not fit there fits none of them.
func (r *report) addAlternatives() {
	for _, loss := range r.losses {
		if loss.Kind.Exact() || loss.Kind == Narrowed {
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
	moved := strings.ReplaceAll(at, "/oneOf/", "/anyOf/")
	loss, ok := r.cause(at, keyword)
	if !ok && strings.HasSuffix(path.Dir(at), "/properties") { // merged, as by allOf
		loss, ok = r.twins[site{path.Base(at), keyword}]
	}
	switch above := cmp.Or(loss.Keyword, "the schema"); {
	case moved != at && slices.Contains(written.keywords[moved], keyword):
		r.lose(Noop, at, keyword, "moved to anyOf")
	case !ok || shape.Silent(keyword):
		r.lose(Noop, at, keyword, "written in another way")
	case strings.HasPrefix(at, loss.Pointer):
		r.lose(loss.Kind, at, keyword, "follows from %s above", above)
	default:
		r.lose(loss.Kind, at, keyword, "follows from %s of %s", above, loss.Pointer)
	}
}

// maxCauses bounds how far cause looks: references may form a cycle.
const maxCauses = 200

// cause returns the loss of the nearest schema, or keyword, that a keyword is
// part of: of the reference, if only one leads to it.
func (r *report) cause(at, keyword string) (loss Loss, ok bool) {
	for range maxCauses {
		if loss, ok = r.became(at, keyword); ok || at == "" {
			break
		}
		if from := r.referrers[at]; len(from) == 1 {
			if loss, ok = r.became(from[0], keyword); ok {
				break
			}
			at, keyword = from[0], "$ref"
		} else {
			at, keyword = r.above(at)
		}
	}
	return loss, ok
}

// became returns the loss that all below a keyword of a schema is part of.
func (r *report) became(at, keyword string) (loss Loss, ok bool) {
	loss, ok = r.whole[at]
	if !ok && slices.Contains([]string{"anyOf", "oneOf", "allOf", "$ref"}, keyword) {
		loss, ok = r.merged[at]
	}
	if !ok {
		loss, ok = r.worst[site{at, keyword}]
	}
	return loss, ok
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
