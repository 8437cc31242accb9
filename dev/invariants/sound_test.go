package invariants_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost/dev/accept"
	"github.com/toolpost/toolpost/schema/dialect"
)

// figures are what is counted for a dialect.
type figures struct {
	schemas, rejected, violations int
	exact                         int // schemas with no loss but noop and encoded

	// Values that the lowered schema takes, decoded: the original takes them;
	// it does not and a loss tells why; it does not.
	sound, explained, unexplained int

	// Values that the original takes, encoded: the lowered schema takes them
	// and they decode to themselves; they do not and narrowing is reported; they
	// do not.
	same, narrowed, lost int

	// Values of exact schemas about which the two schemas agree, and do not.
	agree, differ int

	again, anew int // lowered twice, it is said in the same way, and in another
}

func (f *figures) add(g figures) {
	f.sound, f.explained, f.unexplained = f.sound+g.sound, f.explained+g.explained, f.unexplained+g.unexplained
	f.same, f.narrowed, f.lost = f.same+g.same, f.narrowed+g.narrowed, f.lost+g.lost
	f.agree, f.differ = f.agree+g.agree, f.differ+g.differ
}

// A run counts for all dialects.
type run struct {
	draws    int // values of each schema
	mutex    sync.Mutex
	figures  map[string]*figures
	problems []string
}

func (r *run) problem(format string, args ...any) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// A variant is what an item becomes for some dialects.
type variant struct {
	*item
	low      *dialect.Lowered
	dialects []*dialect.Dialect
}

func (v *variant) String() string { return v.item.name + " for " + v.dialects[0].ID }

// variants lowers an item for all dialects. Those for which the same comes out
// are tried once.
func (r *run) variants(it *item, all []*dialect.Dialect) []*variant {
	var found []*variant
	for _, d := range all {
		low := d.Lower(it.parsed)
		r.count(it, d, low)
		if has(low.Losses, "rejected") {
			continue
		}
		i := slices.IndexFunc(found, func(v *variant) bool {
			return bytes.Equal(v.low.Schema, low.Schema) && slices.Equal(v.low.Losses, low.Losses) && d.Draft() == v.dialects[0].Draft()
		})
		if i < 0 {
			i, found = len(found), append(found, &variant{item: it, low: low})
		}
		found[i].dialects = append(found[i].dialects, d)
	}
	return found
}

// count holds one schema against the rules of its reader.
func (r *run) count(it *item, d *dialect.Dialect, low *dialect.Lowered) {
	violations := 0
	if !has(low.Losses, "rejected") {
		tool := accept.Tool{Name: "tool", Description: "A tool.", Input: low.Schema, Strict: strict(d)}
		for _, v := range accept.Check(d.ID, []accept.Tool{tool}) {
			if strings.HasSuffix(v.Rule, "/totals") || v.Rule == "C1/description" {
				continue // the totals of a request and texts are not the work of lower
			}
			violations++
			r.problem("%s for %s: %s\n\tfrom %s\n\tto   %s", it.name, d.ID, v, short(it.raw), short(low.Schema))
		}
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	f := r.figures[d.ID]
	f.schemas++
	f.violations += violations
	if has(low.Losses, "rejected") {
		f.rejected++
	}
	if exact(low.Losses) {
		f.exact++
	}
	if second := twice(low, d); equalSchemas(low.Schema, second) {
		f.again++
	} else if second != nil {
		f.anew++
		r.same(it.name+" for "+d.ID, low.Schema, second)
	}
}

// same: two schemas that are written in other ways take the same values. The
// caller holds the lock of r.
func (r *run) same(what string, first, second json.RawMessage) {
	schemas := [2]json.RawMessage{first, second}
	for i := range schemas {
		sampler, err := accept.NewSampler(schemas[i])
		if err != nil {
			continue // no value is known to fit
		}
		other, err := accept.Compile(schemas[1-i])
		if err != nil {
			r.problems = append(r.problems, fmt.Sprintf("%s: lowered twice it is no schema: %v", what, err))
			return
		}
		rng := rand.New(rand.NewPCG(uint64(i), 11))
		for range r.draws {
			x, ok := sampler.Sample(rng)
			if !ok {
				continue
			}
			if failures := failing(other, x); len(failures) > 0 {
				r.problems = append(r.problems, fmt.Sprintf("%s: lowered twice it takes other values: %s is refused: %v\n\tonce  %s\n\ttwice %s",
					what, short(x), failures[0], first, second))
				break
			}
		}
	}
}

// try draws values for a variant.
func (r *run) try(v *variant, seed uint64) {
	var f figures
	rng := rand.New(rand.NewPCG(seed, 7))
	if v.judge == nil {
		return
	}
	sent := v.sent()
	reader, err := accept.CompileFor(v.dialects[0].ID, sent)
	if err != nil {
		r.problem("%s: the schema that is sent is none: %v\n\t%s", v, err, short(v.low.Schema))
		return
	}
	for _, y := range v.valid {
		r.back(v, reader, y, &f)
	}
	exact := exact(v.low.Losses)
	if sampler, err := accept.NewSampler(sent); err == nil {
		for range r.draws {
			x, ok := sampler.Sample(rng)
			if !ok {
				continue
			}
			r.sound(v, x, &f)
			if exact && f.agree+f.differ < r.draws {
				if m := accept.Mutate(rng, x); m[0] == '{' { // arguments are objects
					r.agree(v, reader, m, &f)
				}
			}
		}
	}
	if sampler, err := accept.NewSampler(v.raw); err == nil {
		for i := range r.draws {
			sampler.Undeclared = i%2 == 1
			if y, ok := sampler.Sample(rng); ok {
				r.back(v, reader, y, &f)
			}
		}
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, d := range v.dialects {
		r.figures[d.ID].add(f)
	}
}

// sound: a value that the lowered schema takes decodes to one that the original
// takes, or the report tells why not.
func (r *run) sound(v *variant, x json.RawMessage, f *figures) {
	y, _ := v.low.Decode(x)
	failures := failing(v.judge, y)
	switch {
	case len(failures) == 0:
		f.sound++
	case explained(v.low.Losses, failures):
		f.explained++
	default:
		f.unexplained++
		r.problem("%s: unexplained %v\n\tfrom %s\n\tto   %s\n\twritten %s\n\tdecoded %s", v, failures[0], short(v.raw), short(v.low.Schema), short(x), short(y))
	}
}

// back: a value that the original takes can be written for the reader, and
// comes back as it was, or narrowing is reported.
func (r *run) back(v *variant, reader *accept.Schema, y json.RawMessage, f *figures) {
	if y[0] != '{' { // arguments are objects
		return
	}
	x, ok := v.low.Encode(y)
	why := "cannot be written"
	if ok {
		z, notes := v.low.Decode(x)
		failures := failing(reader, x)
		switch {
		case v.undeclared(failures):
			return
		case len(failures) > 0:
			ok, why = false, fmt.Sprint("is refused: ", failures)
		case len(notes) > 0:
			ok, why = false, fmt.Sprint("is repaired: ", notes)
		case !v.equal(y, z):
			ok, why = false, "comes back as "+short(z)
		}
	}
	switch {
	case ok:
		f.same++
	case v.unwritable(y):
	case has(v.low.Losses, "narrowed"):
		f.narrowed++
	default:
		f.lost++
		r.problem("%s: %s %s\n\tfrom %s\n\tto   %s\n\twritten %s", v, short(y), why, short(v.raw), short(v.low.Schema), short(x))
	}
}

// agree: where nothing is lost, the two schemas say the same of any value.
func (r *run) agree(v *variant, reader *accept.Schema, x json.RawMessage, f *figures) {
	y, notes := v.low.Decode(x)
	refused, invalid := failing(reader, x), failing(v.judge, y)
	if len(notes) > 0 || len(refused) > 0 == (len(invalid) > 0) {
		f.agree++
		return
	}
	if len(refused) > 0 { // decoding is lenient: it may be written in another way
		back, ok := v.low.Encode(y)
		if left := failing(reader, back); ok && (len(left) == 0 || v.undeclared(left)) {
			f.agree++
			return
		}
	}
	f.differ++
	r.problem("%s: the schemas differ about a value\n\tfrom %s %v\n\tto   %s %v\n\twritten %s\n\tdecoded %s",
		v, short(v.raw), invalid, short(v.low.Schema), refused, short(x), short(y))
}

// sent is the schema as its reader takes it: of draft-07, if that is what its
// dialect is, though it does not say so.
func (v *variant) sent() json.RawMessage {
	if v.dialects[0].Draft() == "draft-07" && v.low.Schema != nil {
		return append([]byte(`{"$schema":"http://json-schema.org/draft-07/schema#",`), v.low.Schema[1:]...)
	}
	return v.low.Schema
}

// undeclared reports whether a value is refused for members that the original does
// not name, where it does not say whether there may be any. No reader is asked
// for them, which is not called a loss.
func (v *variant) undeclared(failures []accept.Failure) bool {
	closed := v.low.Schema == nil || slices.ContainsFunc(v.low.Losses, func(l dialect.Loss) bool {
		return l.Keyword == "additionalProperties" && l.Kind == "noop"
	})
	return closed && len(failures) > 0 && !slices.ContainsFunc(failures, func(f accept.Failure) bool { return !aboutOthers(f) })
}

// unwritable reports whether a value that could not be written is refused by
// the original once the objects are closed whose other members cannot be
// written, as the report says. That is not called a loss either.
func (v *variant) unwritable(y json.RawMessage) bool {
	var root any
	d := json.NewDecoder(bytes.NewReader(v.raw))
	d.UseNumber()
	if d.Decode(&root) != nil {
		return false
	}
	for _, l := range v.low.Losses {
		if o, ok := at(root, l.Pointer).(map[string]any); ok && l.Keyword == "additionalProperties" && l.Kind == "noop" {
			o["additionalProperties"] = false
		}
	}
	raw, _ := json.Marshal(root)
	closed, err := accept.Compile(raw)
	return err == nil && len(failing(closed, y)) > 0
}

// at returns what a JSON pointer leads to, nil if nothing is there.
func at(v any, pointer string) any {
	for _, token := range strings.Split(pointer, "/")[1:] {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch inner := v.(type) {
		case map[string]any:
			v = inner[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(inner) {
				return nil
			}
			v = inner[i]
		default:
			return nil
		}
	}
	return v
}

func aboutOthers(f accept.Failure) bool {
	return strings.HasSuffix(f.KeywordLocation, "/additionalProperties") || slices.ContainsFunc(f.Causes, aboutOthers)
}

// explained reports whether the losses account for each failure.
func explained(losses []dialect.Loss, failures []accept.Failure) bool {
	return !slices.ContainsFunc(failures, func(f accept.Failure) bool { return !told(losses, f) })
}

// told: no alternative holds if a loss keeps one of them from holding.
func told(losses []dialect.Loss, f accept.Failure) bool {
	return slices.ContainsFunc(losses, func(l dialect.Loss) bool { return tells(l, f.KeywordLocation) }) ||
		slices.ContainsFunc(f.Causes, func(cause accept.Failure) bool { return told(losses, cause) })
}

// tells reports whether a loss is about the keyword at a location, or about one that
// has it inside.
func tells(l dialect.Loss, location string) bool {
	location = strings.Replace(location, "/dependency/", "/dependencies/", 1) // as the validator calls it
	switch {
	case l.Kind == "checked", l.Keyword == "nullable":
		return within(location, l.Pointer) || within(l.Pointer, location)
	case l.Kind == "described", l.Kind == "widened", l.Kind == "dropped":
		return within(location, l.Pointer+"/"+l.Keyword) || within(l.Pointer, location)
	}
	return false
}

// within reports whether the place a JSON pointer names is another, or inside of it.
func within(pointer, outer string) bool {
	return pointer == outer || strings.HasPrefix(pointer, outer+"/")
}

// equal compares values as JSON does. Where null is a default it is the same as
// nothing.
func (it *item) equal(a, b json.RawMessage) bool {
	if nullDefault.Match(it.raw) {
		a, b = withoutNulls(canonical(a)), withoutNulls(canonical(b))
	}
	return equal(a, b)
}

func equal(a, b json.RawMessage) bool { return bytes.Equal(canonical(a), canonical(b)) }

var nullDefault = regexp.MustCompile(`"default"\s*:\s*null`)

// withoutNulls removes the members that are null.
func withoutNulls(v json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	var list []json.RawMessage
	switch v[0] {
	case '{':
		json.Unmarshal(v, &members)
		maps.DeleteFunc(members, func(_ string, m json.RawMessage) bool { return string(m) == "null" })
		for name, m := range members {
			members[name] = withoutNulls(m)
		}
		v, _ = json.Marshal(members)
	case '[':
		json.Unmarshal(v, &list)
		for i := range list {
			list[i] = withoutNulls(list[i])
		}
		v, _ = json.Marshal(list)
	}
	return v
}

func canonical(v json.RawMessage) []byte {
	c := jsontext.Value(bytes.Clone(v))
	if c.Format(jsontext.ReorderRawObjects(true), jsontext.CanonicalizeRawFloats(true)) != nil {
		return v
	}
	return c
}

// newRun tries items for all dialects.
func newRun(t testing.TB, items []*item, draws int) *run {
	all := targets(t)
	r := &run{draws: draws, figures: map[string]*figures{}}
	for _, d := range all {
		r.figures[d.ID] = &figures{}
	}
	var wait sync.WaitGroup
	next := make(chan int)
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := range next {
				for _, v := range r.variants(items[i], all) {
					r.try(v, uint64(i))
				}
			}
		})
	}
	for i := range items {
		next <- i
	}
	close(next)
	wait.Wait()
	slices.Sort(r.problems)
	return r
}

// TestValues: what readers write for the lowered schema is what the original
// takes, or the report tells why not; what the original takes can be written;
// readers accept the lowered schema. With TOOLPOST_DRAWS it writes the figures.
func TestValues(t *testing.T) {
	start := time.Now()
	r := newRun(t, some(items()), max(draws(), 2))
	for i, p := range r.problems {
		if i == 20 {
			t.Errorf("and %d more", len(r.problems)-i)
			break
		}
		t.Error(p)
	}
	for id, f := range r.figures {
		if f.schemas == 0 || f.sound == 0 || f.same == 0 {
			t.Errorf("%s: nothing was tried: %+v", id, *f)
		}
	}
	if draws() > 0 {
		if err := os.WriteFile("../../docs/evidence/invariants.md", r.page(time.Since(start)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
