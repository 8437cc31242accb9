package redmine

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost"
)

// A write is a change of something: what is asked for, in Redmine's words. The
// first failure stays.
type write struct {
	s       *Toolset
	ctx     context.Context
	project int
	before  any // the record before the change, nil for a new one
	set     map[string]any
	fields  []wireField
	beside  map[string]any // what is sent beside the thing
	forced  []string       // of set: what Redmine wants with the rest
	moved   string         // where it should be afterwards, if elsewhere
	err     error

	wrong []string // what was not taken
	notes []string // what else the answer says
}

// newWrite is a new record in a project, 0 for none.
func newWrite(ctx context.Context, s *Toolset, project int) *write {
	return &write{s: s, ctx: ctx, project: project, set: map[string]any{}}
}

// newChange is a change of a record that was read before.
func newChange(ctx context.Context, s *Toolset, before any) *write {
	w := newWrite(ctx, s, projectOf(before))
	w.before = before
	w.noteEmpty()
	return w
}

// body is the change as it is sent.
func (w *write) body(key string) map[string]any {
	body := map[string]any{key: w.set}
	for name, value := range w.beside {
		body[name] = value
	}
	return body
}

// countWanted returns how many things the caller has asked to set. Redmine reports a change
// even if nothing has changed.
func (w *write) countWanted() int {
	n := len(w.set) + len(w.fields)
	if _, ok := w.set["custom_fields"]; ok {
		n-- // they are counted each
	}
	return n - len(w.forced)
}

// canCompare reports whether all that was asked for can be compared with what is
// now: a comment, for example, cannot.
func (w *write) canCompare(now map[string]any) bool {
	if len(w.beside) > 0 || w.moved != "" {
		return false
	}
	for name := range w.set {
		if _, known := now[name]; !known && name != "custom_fields" {
			return false
		}
	}
	return true
}

func (w *write) put(name string, value any, err error) {
	if w.err == nil {
		w.err = err
	}
	if err == nil {
		w.set[name] = value
	}
}

func (w *write) text(name, text string) {
	switch {
	case text == "":
	case strings.EqualFold(strings.TrimSpace(text), none): // to Redmine an empty text
		w.put(name, nil, toolpost.Retry.Errorf("Redmine treats the text %q as empty. Write it in another way, such as \"None.\".", text))
	default:
		w.set[name] = text
	}
}

// setText sets a text. An empty one may be meant as none, or as nothing said: it
// is not taken, and a note says so.
func (w *write) setText(name string, text *string) {
	switch {
	case text == nil:
	case strings.EqualFold(strings.TrimSpace(*text), none):
		w.set[name] = ""
	case *text == "":
		w.notes = append(w.notes, fmt.Sprintf("The given %s is empty, so the old one was kept. Write none to clear it.", name))
	default:
		w.set[name] = *text
	}
}

// setGiven sets what is given, be it empty.
func setGiven[T any](w *write, name string, value *T) {
	if value != nil {
		w.set[name] = *value
	}
}

// setPlain sets a text as it is: only of an issue Redmine takes none for an empty one.
func setPlain(w *write, name, text string) {
	if text != "" {
		w.set[name] = text
	}
}

// compareFiles records the uploads that did not become files. Redmine reports nothing
// about a token that it does not know.
func (w *write) compareFiles(before, now []attachment) {
	sent, _ := w.set["uploads"].([]upload)
	for _, u := range sent {
		is := func(a attachment) bool { return fmt.Sprint(a.ID) == fileID(u.Token) }
		if slices.ContainsFunc(before, is) || !slices.ContainsFunc(now, is) {
			w.wrong = append(w.wrong, fmt.Sprintf("the file %s was not added: a token can be used once, exactly as the upload returned it", cmp.Or(u.Name, u.Token)))
		}
	}
}

// setList sets all that is named, in order. An empty list may be meant as none,
// or as nothing said: it is not taken, and a note says so.
func setList[T cmp.Ordered](w *write, name string, texts []string, find func(text string) (T, error)) {
	switch {
	case texts == nil || w.err != nil:
		return
	case len(texts) == 0:
		w.notes = append(w.notes, fmt.Sprintf("The given list %s is empty, so it was left out. Write none in it to clear it.", name))
		return
	}
	all := []T{}
	for _, text := range texts {
		if len(texts) == 1 && strings.EqualFold(strings.TrimSpace(text), none) {
			break
		}
		one, err := find(text)
		if err != nil {
			w.put(name, nil, err)
			return
		}
		all = append(all, one)
	}
	slices.Sort(all)
	w.set[name] = slices.Compact(all)
}

// custom sets custom fields: those that the record has, or what learn finds for a new one.
func (w *write) custom(set []setField, learn func() ([]field, error)) {
	if w.before != nil {
		if has := customFieldsOf(w.before); len(has) > 0 || learn == nil {
			learn = func() ([]field, error) { return has, nil }
		}
	}
	w.customOf(set, learn)
}

// customOf sets custom fields, of those known.
func (w *write) customOf(set []setField, known func() ([]field, error)) {
	if len(set) == 0 || w.err != nil {
		return
	}
	fields, err := known()
	if err == nil {
		w.fields, err = setFields(w.ctx, w.s, w.project, set, fields)
	}
	w.put("custom_fields", w.fields, err)
}

// set sets what read makes of a text; none clears it.
func set[T any](w *write, name, text string, read func(string) (T, error)) {
	switch text = strings.TrimSpace(text); {
	case text == "" || w.err != nil:
	case strings.EqualFold(text, none):
		w.set[name] = ""
	default:
		value, err := read(text)
		w.put(name, value, err)
	}
}

// refer sets what find finds. Something may be called as what clears it: then 0
// does.
func refer(w *write, name, text string, all func() ([]idName, error), find func(string) (idName, error)) {
	switch text = strings.TrimSpace(text); {
	case text == "0":
		text = none
	case strings.EqualFold(text, none) && w.err == nil:
		known, err := all()
		w.err = explain(err, "what may be called "+none)
		if found := selectNamed(known, func(n idName) bool { return strings.EqualFold(n.Name, none) }); len(found) > 0 {
			w.err = toolpost.Retry.Errorf("For %s, %q can mean %s or an empty value: give the id, or 0 to clear it.", name, text, listNames(found))
		}
	}
	set(w, name, text, func(text string) (idRef, error) {
		n, err := find(text)
		if err == nil {
			w.noteMatch(text, n)
		}
		return idRef{n}, err
	})
}

// noteMatch notes what a part of a name was taken for.
func (w *write) noteMatch(text string, n idName) {
	if me, err := w.s.account(w.ctx); err == nil && me.matches(text) {
		return
	}
	if note := takenFor(text, n); note != "" && !slices.Contains(w.notes, note) {
		w.notes = append(w.notes, note)
	}
}

// takenFor returns a note if text is only a part of the name of n.
func takenFor(text string, n idName) string {
	if n.ID == 0 || len(matchExact(text, []idName{n})) > 0 || samePerson(n.Name, text) {
		return ""
	}
	return fmt.Sprintf("%q was taken for %s.", text, n)
}

// setNamed sets what text names in a source.
func (w *write) setNamed(name, text string, src source) {
	refer(w, name, text, func() ([]idName, error) { return w.s.names(w.ctx, src, false) },
		func(text string) (idName, error) { return w.s.find(w.ctx, src, text) })
}

func (w *write) person(name, text string) {
	refer(w, name, text, func() ([]idName, error) { return people(w.ctx, w.s, w.project) },
		func(text string) (idName, error) { return w.s.person(w.ctx, w.project, text) })
}

func (w *write) day(name, text string) { set(w, name, text, date) }

func (w *write) hours(name, text string) { set(w, name, text, readHours) }

// diffValues returns what is not as it was set, of what is known.
func diffValues(set, is map[string]any) []string {
	var wrong []string
	for _, name := range sortedKeys(set) {
		value, known := is[name]
		asked := set[name]
		if known && bare(value) != bare(asked) && !sameMinute(value, asked) {
			wrong = append(wrong, fmt.Sprintf("%s is %v, not %v", name, clipValue(value), clipValue(asked)))
		}
	}
	return wrong
}

// sameMinute reports whether both are hours, and the same minutes: from 6.0 on
// Redmine keeps logged time as whole ones.
func sameMinute(a, b any) bool {
	x, hours := a.(float64)
	y, both := b.(workTime)
	return hours && both && math.Round(60*x) == math.Round(60*y.hours)
}

// An idRef is a record with a name as a change sets it: Redmine gets its id.
type idRef struct{ idName }

// MarshalJSON implements [json.Marshaler].
func (r idRef) MarshalJSON() ([]byte, error) { return strconv.AppendInt(nil, int64(r.ID), 10), nil }

// reference lets the name of a record stand for it in a change.
func (n idName) reference() idRef { return idRef{n} }

// bare is a value as it is compared: of an idRef the id, of a text one with the same
// line ends, as Redmine makes CR LF of any.
func bare(v any) string {
	switch v := v.(type) {
	case idRef:
		return fmt.Sprint(v.ID)
	case string:
		return oneLine(v) // as names are read
	}
	return fmt.Sprint(v)
}

func clipValue(v any) string {
	text := oneLine(fmt.Sprint(v))
	if text == "" {
		return "empty"
	}
	if r := []rune(text); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return text
}

// none clears a field.
const none = "none"
