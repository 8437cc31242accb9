package redmine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strings"

	"github.com/toolpost/toolpost"
)

// An endpoint is where Redmine keeps one kind of record, such as issues. Reading,
// creating, changing and deleting one go the same way for all kinds:
//
//	find ─▶ fill a write ─▶ send ─▶ read back ─▶ compare ─▶ report
//
// The parameter at is the address of one record, such as "/issues/12"; what is its
// name in errors, such as "issue 12".
type endpoint[T any] struct {
	collection
	name  func(*T) string                // such as "time entry 12"
	check func(w *write, before, now *T) // finds more that was not saved, or is worth a note
}

// A collection is where an endpoint keeps its records. Its methods take records of any
// type, so that the compiler does not copy them for each.
type collection struct {
	key     string                    // of one in JSON, such as "time_entry"
	path    string                    // of all, such as "/time_entries"
	include string                    // what is read with one after a change
	stale   []string                  // lists of names to read again after a change
	why     string                    // Redmine may ignore what is set; notAllowed if empty
	explain func(error, string) error // words a failure; explain if nil
}

// notAllowed is why Redmine may ignore what a request sets.
const notAllowed = "this account may not set it"

func (c collection) recordPath(id int) string { return fmt.Sprintf("%s/%d", c.path, id) }

// get reads a record with what is included. Its errors are not explained yet.
func (k endpoint[T]) get(ctx context.Context, s *Toolset, at, include string) (*T, error) {
	record := new(T)
	if err := k.fetch(ctx, s, at, include, record); err != nil {
		return nil, err
	}
	return record, nil
}

// fetch is get into a record.
func (c collection) fetch(ctx context.Context, s *Toolset, at, include string, record any) error {
	query := url.Values{}
	if include != "" {
		query.Set("include", include)
	}
	var answer map[string]json.RawMessage
	if err := s.client.get(ctx, at+".json", query, &answer); err != nil {
		return err
	}
	return decodeRecord(s.client, at, answer[c.key], record)
}

// decodeRecord decodes the record in an answer, which must have one.
func decodeRecord(c *client, path string, raw json.RawMessage, record any) error {
	if len(raw) == 0 {
		return fmt.Errorf("the answer to %s is not one of Redmine; check that REDMINE_URL is the address of Redmine itself", path)
	}
	return c.decode(path, raw, record)
}

// read is get with explained errors.
func (k endpoint[T]) read(ctx context.Context, s *Toolset, id int, include string) (*T, error) {
	record, err := k.get(ctx, s, k.recordPath(id), include)
	return record, k.words(err, fmt.Sprintf("%s %d", strings.ReplaceAll(k.key, "_", " "), id))
}

// find reads the record with an id as it stands in the arguments of a tool.
func (k endpoint[T]) find(ctx context.Context, s *Toolset, what, text, include string) (*T, error) {
	n, err := id(what, text)
	if err != nil {
		return nil, err
	}
	return k.read(ctx, s, n, include)
}

func (c collection) words(err error, what string) error {
	if c.explain != nil {
		return c.explain(err, what)
	}
	return explain(err, what)
}

// create creates a record at path, and answers with it.
func (k endpoint[T]) create(w *write, path, what string) (*toolpost.Result, error) {
	n, err := k.post(w, path, what)
	if err != nil {
		return nil, err
	}
	return k.readBack(w, k.recordPath(n))
}

// post creates a record and returns its id.
func (c collection) post(w *write, path, what string) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	var answer map[string]json.RawMessage
	if err := w.s.client.send(w.ctx, http.MethodPost, path+".json", w.body(c.key), &answer); err != nil {
		return 0, c.words(withHint(err, w.fields), what)
	}
	var made idName
	if err := decodeRecord(w.s.client, path, answer[c.key], &made); err != nil {
		return 0, fmt.Errorf("%w %s", err, perhaps)
	}
	return made.ID, nil
}

// update changes the record at an address, and answers with it.
func (k endpoint[T]) update(w *write, at, what string) (*toolpost.Result, error) {
	if err := k.put(w, at, what); err != nil {
		return nil, err
	}
	return k.readBack(w, at)
}

// put changes the record at an address.
func (c collection) put(w *write, at, what string) error {
	switch {
	case w.err != nil:
		return w.err
	case len(w.set) == 0:
		return toolpost.Retry.Errorf("%s", strings.Join(append(w.notes, "Nothing to change: give at least one field."), " "))
	}
	if err := w.s.client.send(w.ctx, http.MethodPut, at+".json", w.body(c.key), nil); err != nil {
		if w.before != nil {
			what = "the change of " + what
		}
		return c.words(withHint(err, w.fields), what)
	}
	return nil
}

// change is update of a record that was read before.
func (k endpoint[T]) change(w *write, before *T) (*toolpost.Result, error) {
	return k.update(w, k.recordPath(idOf(before)), k.name(before))
}

// readBack fetches the record after a write and reports every field that differs from
// the request.
func (k endpoint[T]) readBack(w *write, at string) (*toolpost.Result, error) {
	now := new(T)
	done, answer, err := k.fetchWritten(w, at, now)
	if answer != nil || err != nil {
		return answer, err
	}
	return k.report(w, now, done, k.name(now), func() {
		if k.check != nil {
			before, _ := w.before.(*T)
			k.check(w, before, now)
		}
	})
}

// fetchWritten reads the record that a write has created or changed, and returns what
// was done. It answers itself if the record cannot be read.
func (c collection) fetchWritten(w *write, at string, now any) (done string, answer *toolpost.Result, err error) {
	for _, list := range c.stale {
		w.s.forget(list)
	}
	done = "Changed "
	if w.before == nil {
		done = "Created "
	}
	err = c.fetch(w.ctx, w.s, cmp.Or(w.moved, at), c.include, now)
	if w.moved != "" && status(err) == http.StatusNotFound {
		err = c.fetch(w.ctx, w.s, at, c.include, now) // it stayed
	}
	if err != nil {
		what := strings.ReplaceAll(strings.TrimPrefix(at, "/"), "/", " ")
		answer, err = w.s.unread(done+what, c.words(err, what), map[string]any{"done": true, "at": at})
	}
	return done, answer, err
}

// report answers with the record now, which has a name, as it is after a write, and with
// every field that is not as it was asked to be. Check finds more of them.
func (c collection) report(w *write, now any, done, name string, check func()) (*toolpost.Result, error) {
	is, fields := settableFields(now), customFieldsOf(now)
	w.wrong = append(diffValues(w.set, is), diffFields(w.fields, fields)...)
	why, unchanged := cmp.Or(c.why, notAllowed), w.before != nil && settableState(w.before) == settableState(now)
	check()
	if unchanged && len(w.wrong) >= max(1, w.countWanted()) {
		return nil, toolpost.Failed.Errorf("Redmine did not save the change of %s. Perhaps %s, or another user changed it at the same time: %s.", name, why, strings.Join(w.wrong, "; "))
	}
	w.leaveOutLongTexts(now)
	nameFields(w.ctx, w.s, w.project, w.project, fields)
	facts := map[string]any{c.key: now}
	text := summarize(done+name, why, w.wrong)
	if unchanged && len(w.wrong) == 0 && w.canCompare(is) {
		text = fmt.Sprintf("Nothing was different: %s already has these values.\n", name)
	}
	if len(w.wrong) > 0 {
		facts["not_taken"] = w.wrong
	}
	for _, note := range w.notes {
		text += note + "\n"
		facts["notes"] = w.notes
	}
	return w.s.show(text+"\n", now, facts)
}

// settableState writes what can be set of a record, as it is, to compare it with another state.
func settableState(record any) string {
	return fmt.Sprint(settableFields(record), customFieldsOf(record).values())
}

// A removal is a deletion that is asked for.
type removal struct {
	at        string         // the address of the record, if not by its id
	query     string         // what is to become of the rest
	what      string         // with its name, such as "version 1.1 [2]"
	would     string         // go with it, in lines
	facts     map[string]any // the same for programs
	then      string         // became of the rest, after it is done
	id        any            // of what is deleted, for programs, if not its id
	confirmed bool
	given     string   // what names it in the call,
	names     []string // which must be one of these, if there are any
}

// newRemoval is the deletion of a record, which has a name and a key in JSON.
func newRemoval(name, key string, record any, confirmed bool) *removal {
	return &removal{
		what: name, would: "This would be deleted:\n\n" + textOf(record),
		facts: map[string]any{key: record}, confirmed: confirmed,
	}
}

// remove deletes a record if that is confirmed; otherwise it shows what would go.
func (c collection) remove(ctx context.Context, s *Toolset, record any, r *removal) (*toolpost.Result, error) {
	if r.at == "" {
		r.at, r.id = c.recordPath(idOf(record)), idOf(record)
	}
	if !r.confirmed {
		facts := map[string]any{"deleted": nil}
		for name, fact := range r.facts {
			facts[name] = fact
		}
		return s.answerLine("Nothing has been deleted yet. "+strings.TrimSuffix(r.would, "\n")+"\nCall again with confirm true to delete it.", facts)
	}
	if len(r.names) > 0 {
		if err := requireWholeName(r.given, r.what, r.names...); err != nil {
			return nil, err
		}
	}
	if err := s.client.send(ctx, http.MethodDelete, r.at+".json"+r.query, nil, nil); err != nil {
		return nil, c.words(err, "the deletion of "+r.what)
	}
	for _, list := range c.stale {
		s.forget(list)
	}
	text := "Deleted " + r.what + r.then + "."
	left := reflect.New(reflect.TypeOf(record).Elem()).Interface()
	switch err := c.fetch(ctx, s, r.at, "", left); {
	case err == nil:
		return nil, toolpost.Failed.Errorf("Redmine reported that %s was deleted, but it still exists.", r.what)
	case status(err) == 0:
		text += fmt.Sprintf(" Whether it worked could not be checked: %v", err)
	}
	return s.answerLine(text, map[string]any{"deleted": r.id})
}

// setLink adds a link to a collection, such as a user to a group, or removes
// it. Redmine takes its id as the member key of the request.
func (s *Toolset) setLink(ctx context.Context, collection, key string, id int, on bool) error {
	if on {
		return s.client.send(ctx, http.MethodPost, collection+".json", map[string]int{key: id}, nil)
	}
	return s.client.send(ctx, http.MethodDelete, fmt.Sprintf("%s/%d.json", collection, id), nil, nil)
}
