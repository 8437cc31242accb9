package redmine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/toolpost/toolpost"
)

// A kind is one kind of thing that Redmine keeps, such as issues. Reading one,
// making, changing and deleting it go the same way for all kinds:
//
//	find ─▶ fill a write ─▶ send ─▶ read back ─▶ compare ─▶ tell
//
// At is where one thing is, such as "/issues/12". What is its name in errors,
// such as "issue 12".
type kind[T any] struct {
	key     string                    // of one in JSON, such as "time_entry"
	path    string                    // of all, such as "/time_entries"
	include string                    // what is read with one after a change
	stale   []string                  // lists of names to read again after a change
	why     string                    // Redmine may ignore what is set; notAllowed if empty
	explain func(error, string) error // words a failure; explain if nil
	name    func(*T) string           // such as "time entry 12"
	is      func(*T) map[string]any   // what may be set of it, as it is now
	fields  func(*T) []field          // custom fields, if it has any
	check   func(*write, *T)          // finds more that was not taken, or is worth a note
	view    func(*T) view             // as it is shown
	before  *T                        // a change, if it is known
}

// A view is a thing as it is shown: as JSON, and as text.
type view interface{ text() string }

// notAllowed is why Redmine may ignore what it was told to set.
const notAllowed = "this account may not set it"

func (k kind[T]) at(id int) string { return fmt.Sprintf("%s/%d", k.path, id) }

// get reads a thing with what is included. Its failures have no words yet.
func (k kind[T]) get(ctx context.Context, s *Server, at, include string) (*T, error) {
	query := url.Values{}
	if include != "" {
		query.Set("include", include)
	}
	var answer map[string]json.RawMessage
	if err := s.client.get(ctx, at+".json", query, &answer); err != nil {
		return nil, err
	}
	return one[T](s.client, at, answer[k.key])
}

// one decodes the thing in an answer, which must be there.
func one[T any](c *client, path string, raw json.RawMessage) (*T, error) {
	if len(raw) == 0 {
		return nil, fmt.Errorf("the answer to %s is not one of Redmine; check that REDMINE_URL is the address of Redmine itself", path)
	}
	var thing T
	return &thing, c.decode(path, raw, &thing)
}

// read is get with words for what fails.
func (k kind[T]) read(ctx context.Context, s *Server, id int, include string) (*T, error) {
	at := k.at(id)
	thing, err := k.get(ctx, s, at, include)
	return thing, k.words(err, fmt.Sprintf("%s %d", strings.ReplaceAll(k.key, "_", " "), id))
}

func (k kind[T]) words(err error, what string) error {
	if k.explain != nil {
		return k.explain(err, what)
	}
	return explain(err, what)
}

// create makes a thing at path, and answers with it.
func (k kind[T]) create(w *write, path, what string) (*toolpost.Result, error) {
	n, err := k.post(w, path, what)
	if err != nil {
		return nil, err
	}
	return k.told(w, k.at(n))
}

// post makes a thing and returns its id.
func (k kind[T]) post(w *write, path, what string) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	w.made = true
	var answer map[string]json.RawMessage
	if err := w.s.client.send(w.ctx, http.MethodPost, path+".json", w.body(k.key), &answer); err != nil {
		return 0, k.words(hinted(err, w.fields), what)
	}
	made, err := one[named](w.s.client, path, answer[k.key])
	if err != nil {
		return 0, fmt.Errorf("%w %s", err, perhaps)
	}
	return made.ID, nil
}

// update changes the thing at a place, and answers with it.
func (k kind[T]) update(w *write, at, what string) (*toolpost.Result, error) {
	switch {
	case w.err != nil:
		return nil, w.err
	case len(w.set) == 0:
		return nil, toolpost.Retry("%s", strings.Join(append(w.notes, "Nothing to change: give at least one field."), " "))
	}
	if err := w.s.client.send(w.ctx, http.MethodPut, at+".json", w.body(k.key), nil); err != nil {
		if !w.made {
			what = "the change of " + what
		}
		return nil, k.words(hinted(err, w.fields), what)
	}
	return k.told(w, at)
}

// change is update of a thing that was read before.
func (k kind[T]) change(w *write, id int, before *T) (*toolpost.Result, error) {
	k.before = before
	return k.update(w, k.at(id), k.name(before))
}

// told reads a thing back, and answers with it and with what is not as it was
// asked.
func (k kind[T]) told(w *write, at string) (*toolpost.Result, error) {
	for _, list := range k.stale {
		w.s.forget(list)
	}
	done := "Changed "
	if w.made {
		done = "Created "
	}
	now, err := k.get(w.ctx, w.s, cmp.Or(w.moved, at), k.include)
	if w.moved != "" && status(err) == http.StatusNotFound {
		now, err = k.get(w.ctx, w.s, at, k.include) // it stayed
	}
	if err != nil {
		what := strings.ReplaceAll(strings.TrimPrefix(at, "/"), "/", " ")
		text := fmt.Sprintf("%s%s. Do not repeat the change: it was made, but could not be read back, so it is not known whether Redmine saved all of it. %v", done, what, k.words(err, what))
		return w.s.done(text, map[string]any{"done": true, "at": at, "read_back": false})
	}
	why := cmp.Or(k.why, notAllowed)
	if k.compare(w, now) {
		return nil, toolpost.Failed("Redmine did not save the change of %s. Perhaps %s, or another user changed it at the same time: %s.", k.name(now), why, strings.Join(w.wrong, "; "))
	}
	if k.fields != nil {
		nameFields(w.ctx, w.s, w.project, w.project, k.fields(now))
	}
	v := k.view(now)
	facts := map[string]any{k.key: v}
	text := outcome(done+k.name(now), why, w.wrong)
	if k.same(w, now) {
		text = fmt.Sprintf("Nothing was different: %s already has these values.\n", k.name(now))
	}
	if len(w.wrong) > 0 {
		facts["not_taken"] = w.wrong
	}
	for _, note := range w.notes {
		text += note + "\n"
		facts["notes"] = w.notes
	}
	return w.s.answer(text+"\n"+v.text(), facts)
}

// compare finds what was not taken, and says whether nothing was.
func (k kind[T]) compare(w *write, now *T) (nothing bool) {
	w.wrong = unlike(w.set, k.is(now))
	if k.fields != nil {
		w.wrong = append(w.wrong, unset(w.fields, k.fields(now))...)
	}
	if k.check != nil {
		k.check(w, now)
	}
	if w.made || len(w.wrong) < max(1, w.wanted()) {
		return false
	}
	return k.before == nil || k.state(k.before) == k.state(now)
}

// same reports whether a change left everything as it was, because it was so before.
func (k kind[T]) same(w *write, now *T) bool {
	if w.made || k.before == nil || len(w.wrong) > 0 || len(w.beside) > 0 || w.moved != "" {
		return false
	}
	is := k.is(now)
	for name := range w.set {
		if _, known := is[name]; !known && name != "custom_fields" { // such as a comment
			return false
		}
	}
	return k.state(k.before) == k.state(now)
}

// state is all that may be set of a thing, as one text.
func (k kind[T]) state(thing *T) string {
	state := fmt.Sprint(k.is(thing))
	if k.fields != nil {
		for _, f := range k.fields(thing) {
			state += fmt.Sprintf(" %d %q", f.ID, f.values())
		}
	}
	return state
}

// A removal is a deletion that is asked for.
type removal struct {
	at, query string         // where it is, and what is to become of the rest
	what      string         // with its name, such as "version 1.1 [2]"
	would     string         // go with it, in lines
	facts     map[string]any // the same for programs
	then      string         // became of the rest, after it is done
	id        any            // of what is deleted, for programs
	confirmed bool
	given     string   // what names it in the call,
	names     []string // which must be one of these, if there are any
}

// remove deletes a thing if that is confirmed, and shows before what would go.
func (k kind[T]) remove(ctx context.Context, s *Server, r *removal) (*toolpost.Result, error) {
	if !r.confirmed {
		facts := map[string]any{"deleted": nil}
		for name, fact := range r.facts {
			facts[name] = fact
		}
		return s.done("Nothing has been deleted yet. "+strings.TrimSuffix(r.would, "\n")+"\nCall again with confirm true to delete it.", facts)
	}
	if len(r.names) > 0 {
		if err := whole(r.given, r.what, r.names...); err != nil {
			return nil, err
		}
	}
	if err := s.client.send(ctx, http.MethodDelete, r.at+".json"+r.query, nil, nil); err != nil {
		return nil, k.words(err, "the deletion of "+r.what)
	}
	for _, list := range k.stale {
		s.forget(list)
	}
	text := "Deleted " + r.what + r.then + "."
	switch _, err := k.get(ctx, s, r.at, ""); {
	case err == nil:
		return nil, toolpost.Failed("Redmine reported that %s was deleted, but it still exists.", r.what)
	case status(err) == 0:
		text += fmt.Sprintf(" Whether it worked could not be checked: %v", err)
	}
	return s.done(text, map[string]any{"deleted": r.id})
}
