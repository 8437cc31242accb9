package dialect

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// sheets are dialects by id, as they are written: what they extend is not yet
// laid under them.
type sheets map[string]jsontext.Value

// an id is part of a path in the gateway.
var idPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)

// overlay lays text over the dialect of that id, or adds a new one.
func (s sheets) overlay(id string, text []byte) error {
	if !idPattern.MatchString(id) {
		return fmt.Errorf("an id has to match %s", idPattern)
	}
	if jsontext.Value(text).Kind() != '{' {
		return errors.New("a dialect is a JSON object: {\"extends\": …}")
	}
	under, known := s[id]
	if !known {
		if member(text, "extends") == nil {
			return fmt.Errorf("it is not built in, so it has to say what it extends: add \"extends\" with one of %s", listed(s))
		}
		s[id] = text
		return nil
	}
	whole, err := lay(under, text)
	s[id] = whole
	return err
}

// dialect reads the dialect of that id, with all that it extends.
func (s sheets) dialect(id string) (*Dialect, error) {
	whole, err := s.whole(id, nil)
	if err != nil {
		return nil, err
	}
	d := &Dialect{}
	if err := json.Unmarshal(whole, d, json.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	d.ID = id
	if err := d.check(whole); err != nil {
		return nil, err
	}
	return d, nil
}

// whole lays the sheet of that id over what it extends; above are those that
// extend it.
func (s sheets) whole(id string, above []string) (jsontext.Value, error) {
	if slices.Contains(above, id) {
		return nil, fmt.Errorf("extends leads back to itself: %s", strings.Join(append(above, id), " → "))
	}
	own, known := s[id]
	if !known {
		return nil, fmt.Errorf("extends: %w", missing(id, s))
	}
	var head struct {
		Extends string `json:"extends"`
	}
	if err := json.Unmarshal(own, &head); err != nil {
		return nil, err
	}
	if head.Extends == "" {
		return own, nil
	}
	under, err := s.whole(head.Extends, append(above, id))
	if err != nil {
		return nil, err
	}
	if under, err = heritage(under); err != nil {
		return nil, err
	}
	return lay(under, own)
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

// addSources returns own and what old tells of other rules: what is known of a
// reader itself counts, not what is known of those that it is like.
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
	if err := json.Unmarshal(v, &sources, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("sources: %w", err)
	}
	return sources, nil
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
		return nil // whoever reads it as a whole tells why
	}
	return all[name]
}
