package dialect

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// A reader reads dialects that extend one another, each once.
type reader struct {
	sheets map[string]jsontext.Value // by id, as they are written
	pages  map[string]*page
	open   []string // being read: each extends the next one
}

// A page is a dialect with all that it extends.
type page struct {
	text    jsontext.Value
	left    jsontext.Value // to those that extend it
	dialect *Dialect
	err     error
}

// an id is part of a path in the gateway.
var idPattern = lazyregexp.New(`^[a-z0-9][a-z0-9._-]*$`)

// with returns a reader of the same dialects under overlays. Dialects that
// these do not change are not read again.
func (r *reader) with(overlays map[string][]byte) *reader {
	n := &reader{sheets: maps.Clone(r.sheets), pages: maps.Clone(r.pages)}
	maps.DeleteFunc(n.pages, func(id string, _ *page) bool {
		for id != "" && overlays[id] == nil {
			id = r.pages[id].dialect.form.Extends
		}
		return id != ""
	})
	for id, text := range overlays {
		sheet, err := r.overlay(id, text)
		n.sheets[id] = sheet
		if err != nil {
			n.pages[id] = &page{err: err}
		}
	}
	return n
}

// overlay lays text over the dialect of that id, if there is one.
func (r *reader) overlay(id string, text jsontext.Value) (jsontext.Value, error) {
	if !idPattern.MatchString(id) {
		return nil, newFault("", "the id must match %s", idPattern)
	}
	if text.Kind() != '{' {
		return nil, newFault("", "a dialect must be a JSON object: {\"extends\": …}")
	}
	extends, err := parentID(text)
	if err != nil {
		return nil, err
	}
	if under := r.sheets[id]; under != nil {
		return lay(under, text)
	}
	if extends == "" {
		return nil, newFault("", "no built-in dialect has this id; add \"extends\" with one of %s", strings.Join(slices.Sorted(maps.Keys(r.sheets)), ", "))
	}
	return text, nil
}

// parentID returns the id of the dialect that a sheet extends, "" for none.
func parentID(sheet jsontext.Value) (string, error) {
	var head struct {
		Extends string `json:"extends"`
	}
	err := json.Unmarshal(sheet, &head)
	return head.Extends, misread("", err)
}

// read returns the page of that id.
func (r *reader) read(id string) *page {
	p := r.pages[id]
	if p == nil {
		p = &page{}
		r.pages[id] = p
		r.open = append(r.open, id)
		err := r.fill(p, id)
		r.open = r.open[:len(r.open)-1]
		if p.err == nil {
			p.err = err
		}
		return p
	}
	if i := slices.Index(r.open, id); i >= 0 {
		r.circular(r.open[i:])
	}
	return p
}

// circular reports to each of ids that the last one extends the first.
func (r *reader) circular(ids []string) {
	for i, id := range ids {
		circle := slices.Concat(ids[i:], ids[:i], ids[i:i+1])
		r.pages[id].err = newFault("/extends", "refers back to itself: %s", strings.Join(circle, " → "))
	}
}

// fill reads a page, after the one that it extends.
func (r *reader) fill(p *page, id string) error {
	p.text = r.sheets[id]
	extends, err := parentID(p.text)
	if err != nil {
		return err
	}
	if extends != "" {
		if r.sheets[extends] == nil && r.pages[extends] == nil {
			return newFault("/extends", "is not valid: %w", missing(extends, slices.Sorted(maps.Keys(r.sheets))))
		}
		under := r.read(extends)
		if under.err != nil {
			return &fault{pointer: "/extends", err: fmt.Errorf("is %q, which is not valid either", extends), inherited: true}
		}
		if under.left == nil {
			under.left, err = heritage(under.text)
		}
		if err == nil {
			p.text, err = lay(under.left, p.text)
		}
		if err != nil {
			return err
		}
	}
	var f form
	if err := json.Unmarshal(p.text, &f, json.RejectUnknownMembers(true)); err != nil {
		return misread("", err)
	}
	d := newDialect(id, f)
	p.dialect = d
	d.compiled = sync.OnceValue(d.compile)
	return d.check(p.text)
}

// heritage is what a dialect leaves to those that extend it: not its clients,
// nor the evidence of who they are.
func heritage(v jsontext.Value) (jsontext.Value, error) {
	var all map[string]jsontext.Value
	if err := json.Unmarshal(v, &all); err != nil {
		return nil, err
	}
	delete(all, "clients")
	sources, err := readSources(all["sources"])
	if err != nil {
		return nil, err
	}
	sources = slices.DeleteFunc(sources, func(s Source) bool { return len(s.Rules) == 0 })
	if all["sources"], err = json.Marshal(sources); err != nil {
		return nil, err
	}
	return json.Marshal(all, json.Deterministic(true))
}

// lay lays one dialect over another.
func lay(under, over jsontext.Value) (jsontext.Value, error) {
	old, err := readSources(member(under, "sources"))
	if err != nil {
		return nil, err
	}
	own, err := readSources(member(over, "sources"))
	if err != nil {
		return nil, err
	}
	whole, err := patch(under, over)
	if err != nil {
		return nil, err
	}
	sources, err := json.Marshal(map[string][]Source{"sources": addSources(own, old)})
	if err != nil {
		return nil, err
	}
	return patch(whole, sources)
}

// addSources returns own and the evidence of old for other rules: evidence for a
// reader itself replaces evidence for the readers that it resembles.
func addSources(own, old []Source) []Source {
	told := map[string]bool{}
	for _, s := range own {
		for _, r := range s.Rules {
			told[r] = true
		}
	}
	all := slices.Clone(own)
	for _, s := range old {
		rest := slices.DeleteFunc(slices.Clone(s.Rules), func(r string) bool { return told[r] })
		if len(rest) > 0 || len(s.Rules) == 0 {
			s.Rules = rest
			all = append(all, s)
		}
	}
	return all
}

func readSources(v jsontext.Value) (sources []Source, err error) {
	if len(v) == 0 {
		return nil, nil
	}
	err = json.Unmarshal(v, &sources, json.RejectUnknownMembers(true))
	return sources, misread("/sources", err)
}

// patch is a JSON merge patch (RFC 7396).
func patch(under, over jsontext.Value) (jsontext.Value, error) {
	if over.Kind() != '{' {
		return over, nil
	}
	var changes map[string]jsontext.Value
	if err := json.Unmarshal(over, &changes); err != nil {
		return nil, err
	}
	all := map[string]jsontext.Value{}
	if under.Kind() == '{' {
		if err := json.Unmarshal(under, &all); err != nil {
			return nil, err
		}
	}
	for name, v := range changes {
		if v.Kind() == 'n' {
			delete(all, name)
			continue
		}
		merged, err := patch(all[name], v)
		if err != nil {
			return nil, err
		}
		all[name] = merged
	}
	return json.Marshal(all, json.Deterministic(true))
}

// member returns the member of that name, nil if there is none.
func member(object jsontext.Value, name string) jsontext.Value {
	var all map[string]jsontext.Value
	if json.Unmarshal(object, &all) != nil {
		return nil // reading it as a whole reports why
	}
	return all[name]
}
