package schema

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// A fallback checks what nodes do not cover, with a full implementation of
// all drafts. It works on decoded values, some ten times slower.
type fallback struct {
	mu       sync.Mutex  // guards meter
	cycle    atomic.Bool // a value was accepted that leads the schema into a cycle of references
	meter    meter
	compiled *jsonschema.Schema
	nodes    int    // subschemas, 0 unless there are unevaluated properties or items
	doc      *value // for the names that are valid at some place
}

// schemaURL names the document inside the full validator. Nothing is loaded
// from there, or from anywhere.
const schemaURL = "mem:///schema.json"

type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, errors.New("external schemas are not fetched")
}

// newFallback compiles a document, nil if that cannot be done; the document's
// findings say why.
func newFallback(d *document) (f *fallback) {
	if d.nodes > maxFullNodes {
		d.refuse(fmt.Sprintf("it has more than %d subschemas and needs the full validator", maxFullNodes))
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			f = nil
			d.refuse(fmt.Sprintf("the compiler of the schema failed: %.200v", p))
		}
	}()
	f = &fallback{doc: d.root}
	if d.ownEnums() {
		f.nodes = d.nodes
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	c.DefaultDraft(drafts(d.draft))
	c.UseRegexpEngine(func(source string) (jsonschema.Regexp, error) {
		p, err := d.patterns.compile(source)
		if err != nil {
			return nil, err
		}
		return meteredPattern{p, &f.meter}, nil
	})
	c.RegisterVocabulary(f.meter.vocabulary())
	c.AssertVocabs()
	err := c.AddResource(schemaURL, d.root.decode())
	if err == nil {
		f.compiled, err = c.Compile(schemaURL)
	}
	if err != nil {
		d.refuse(clip(err.Error(), 300))
		return nil
	}
	return f
}

func drafts(draft int) *jsonschema.Draft {
	switch draft {
	case 4, 7:
		return jsonschema.Draft7
	case 6:
		return jsonschema.Draft6
	case 2019:
		return jsonschema.Draft2019
	}
	return jsonschema.Draft2020
}

// explain adds the problems of a value to those of x.
func (f *fallback) explain(v *value, x *explainer) {
	if f.nodes > 0 && f.nodes*v.widest() > 1<<22 { // each subschema may copy what is not evaluated
		x.wrong(tooMuchWork, v)
		return
	}
	err := f.validate(v)
	if err != nil && x.nullIsAbsent {
		if less := f.withoutNulls(v, err); less != nil {
			v = less
			err = f.validate(v)
		}
	}
	invalid, ok := err.(*jsonschema.ValidationError)
	switch {
	case err == nil:
	case !ok:
		x.wrong(tooMuchWork, v)
	case cyclic(invalid):
		f.cycle.Store(true)
	default:
		t := translator{doc: f.doc, value: v, found: &x.found}
		t.translate(invalid)
	}
}

// cyclic says that the validation stopped at a cycle of references, which
// says nothing about the value.
func cyclic(e *jsonschema.ValidationError) bool {
	if _, ok := e.ErrorKind.(*kind.RefCycle); ok {
		return true
	}
	return slices.ContainsFunc(e.Causes, cyclic)
}

var errGaveUp = errors.New("the value cannot be checked")

// validate runs the full validator. Its error is a *[jsonschema.ValidationError],
// or errGaveUp for too much work, or a defect.
func (f *fallback) validate(v *value) (err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			err = errGaveUp
		}
	}()
	f.meter.start(1<<18 + 8*len(v.raw))
	return f.compiled.Validate(v.decode())
}
