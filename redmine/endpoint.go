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

// An endpoint is where Redmine keeps one kind of record, such as issues. Reading,
// creating, changing and deleting one go the same way for all kinds:
//
//	find ─▶ fill a write ─▶ send ─▶ read back ─▶ compare ─▶ report
//
// The parameter at is the address of one record, such as "/issues/12"; what is its
// name in errors, such as "issue 12".
type endpoint[T any] struct {
	key     string                         // of one in JSON, such as "time_entry"
	path    string                         // of all, such as "/time_entries"
	include string                         // what is read with one after a change
	stale   []string                       // lists of names to read again after a change
	why     string                         // Redmine may ignore what is set; notAllowed if empty
	explain func(error, string) error      // words a failure; explain if nil
	name    func(*T) string                // such as "time entry 12"
	check   func(w *write, before, now *T) // finds more that was not saved, or is worth a note
}

// notAllowed is why Redmine may ignore what a request sets.
const notAllowed = "this account may not set it"

func (k endpoint[T]) recordPath(id int) string { return fmt.Sprintf("%s/%d", k.path, id) }

// get reads a record with what is included. Its errors are not explained yet.
func (k endpoint[T]) get(ctx context.Context, s *Toolset, at, include string) (*T, error) {
	query := url.Values{}
	if include != "" {
		query.Set("include", include)
	}
	var answer map[string]json.RawMessage
	if err := s.client.get(ctx, at+".json", query, &answer); err != nil {
		return nil, err
	}
	return decodeRecord[T](s.client, at, answer[k.key])
}

// decodeRecord decodes the record in an answer, which must have one.
func decodeRecord[T any](c *client, path string, raw json.RawMessage) (*T, error) {
	if len(raw) == 0 {
		return nil, fmt.Errorf("the answer to %s is not one of Redmine; check that REDMINE_URL is the address of Redmine itself", path)
	}
	var record T
	return &record, c.decode(path, raw, &record)
}

// read is get with explained errors.
func (k endpoint[T]) read(ctx context.Context, s *Toolset, id int, include string) (*T, error) {
	at := k.recordPath(id)
	record, err := k.get(ctx, s, at, include)
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

func (k endpoint[T]) words(err error, what string) error {
	if k.explain != nil {
		return k.explain(err, what)
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
func (k endpoint[T]) post(w *write, path, what string) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	var answer map[string]json.RawMessage
	if err := w.s.client.send(w.ctx, http.MethodPost, path+".json", w.body(k.key), &answer); err != nil {
		return 0, k.words(withHint(err, w.fields), what)
	}
	made, err := decodeRecord[idName](w.s.client, path, answer[k.key])
	if err != nil {
		return 0, fmt.Errorf("%w %s", err, perhaps)
	}
	return made.ID, nil
}

// update changes the record at an address, and answers with it.
func (k endpoint[T]) update(w *write, at, what string) (*toolpost.Result, error) {
	switch {
	case w.err != nil:
		return nil, w.err
	case len(w.set) == 0:
		return nil, toolpost.Retry("%s", strings.Join(append(w.notes, "Nothing to change: give at least one field."), " "))
	}
	if err := w.s.client.send(w.ctx, http.MethodPut, at+".json", w.body(k.key), nil); err != nil {
		if w.before != nil {
			what = "the change of " + what
		}
		return nil, k.words(withHint(err, w.fields), what)
	}
	return k.readBack(w, at)
}

// change is update of a record that was read before.
func (k endpoint[T]) change(w *write, before *T) (*toolpost.Result, error) {
	return k.update(w, k.recordPath(idOf(before)), k.name(before))
}

// readBack fetches the record after a write and reports every field that differs from
// the request.
func (k endpoint[T]) readBack(w *write, at string) (*toolpost.Result, error) {
	for _, list := range k.stale {
		w.s.forget(list)
	}
	done := "Changed "
	if w.before == nil {
		done = "Created "
	}
	now, err := k.get(w.ctx, w.s, cmp.Or(w.moved, at), k.include)
	if w.moved != "" && status(err) == http.StatusNotFound {
		now, err = k.get(w.ctx, w.s, at, k.include) // it stayed
	}
	if err != nil {
		what := strings.ReplaceAll(strings.TrimPrefix(at, "/"), "/", " ")
		return w.s.unread(done+what, k.words(err, what), map[string]any{"done": true, "at": at})
	}
	return k.report(w, now, done)
}

// report answers with a record as it is after a write, and with every field that
// is not as it was asked to be.
func (k endpoint[T]) report(w *write, now *T, done string) (*toolpost.Result, error) {
	is, fields := settableFields(now), customFieldsOf(now)
	w.wrong = append(diffValues(w.set, is), diffFields(w.fields, fields)...)
	before, _ := w.before.(*T)
	why, unchanged := cmp.Or(k.why, notAllowed), before != nil && settableState(before) == settableState(now)
	if k.check != nil {
		k.check(w, before, now)
	}
	if unchanged && len(w.wrong) >= max(1, w.countWanted()) {
		return nil, toolpost.Failed("Redmine did not save the change of %s. Perhaps %s, or another user changed it at the same time: %s.", k.name(now), why, strings.Join(w.wrong, "; "))
	}
	w.leaveOutLongTexts(now)
	nameFields(w.ctx, w.s, w.project, w.project, fields)
	facts := map[string]any{k.key: now}
	text := summarize(done+k.name(now), why, w.wrong)
	if unchanged && len(w.wrong) == 0 && w.canCompare(is) {
		text = fmt.Sprintf("Nothing was different: %s already has these values.\n", k.name(now))
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

// remove deletes a record if that is confirmed; otherwise it shows what would go.
func (k endpoint[T]) remove(ctx context.Context, s *Toolset, record *T, r *removal) (*toolpost.Result, error) {
	if r.at == "" {
		r.at, r.id = k.recordPath(idOf(record)), idOf(record)
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
