package redmine

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/toolpost/toolpost"
)

type editIssueInput struct {
	ID   string `json:"id"`
	Old  string `json:"old_text" jsonschema:"minLength=1,maxLength=1000000" desc:"Must occur once"`
	New  string `json:"new_text" jsonschema:"maxLength=1000000"`
	All  bool   `json:"replace_all,omitempty"`
	Hash string `json:"description_hash,omitempty" desc:"The one you read"`
	Seen string `json:"updated_on,omitempty" desc:"Last change you saw"`
}

func editIssue(s *Toolset) entry {
	return tool(s, "edit_issue_description", "Edit an issue's description", "Replace a part of an issue's description.", changes,
		func(ctx context.Context, in editIssueInput) (*toolpost.Result, error) {
			n, err := id("an issue", in.ID)
			if err != nil {
				return nil, err
			}
			unlock, err := s.editing.Lock(ctx, fmt.Sprintf("issue %d", n))
			if err != nil {
				return nil, err
			}
			defer unlock()
			before, err := readIssue(ctx, s, n, "journals")
			if err != nil {
				return nil, err
			}
			if err := requireUnchanged(before, in.Seen, in.Hash); err != nil {
				return nil, err
			}
			return newDescriptionEdit(ctx, s, before, &in).run()
		})
}

// requireUnchanged refuses to change an issue that was changed after the caller read it.
func requireUnchanged(i *issue, seen, hash string) error {
	if hash = strings.ToLower(strings.TrimSpace(hash)); hash != "" && hash != hashOf(string(i.Description)) {
		return toolpost.Retry.Errorf("The description of issue %d now has the hash %s, not %s: it was changed. Read it again, and redo your change on the current text.", i.ID, hashOf(string(i.Description)), hash)
	}
	if seen != "" && seen != string(i.UpdatedOn) {
		return toolpost.Retry.Errorf("Issue %d was changed at %s, after %s. Read it again, and redo your change on the current text.", i.ID, i.UpdatedOn, seen)
	}
	return nil
}

// maxEdits is how often a description is written for one edit.
const maxEdits = 8

// A descriptionEdit replaces a part of a description. Redmine cannot refuse an edit
// of what has changed, so another program may write between our reading and our
// writing. The journal has every text that was replaced.
//
//	read ─▶ write ─▶ read the journal ─▶ done, if we replaced the text that we read
//	          ▲                       └▶ else put back the changes that we replaced
//	          └────────────────────────────┘
//
// Each program puts back what it replaced itself, so with any number of them no
// edit is lost unless two change the same words.
type descriptionEdit struct {
	*issueWrite
	in       *editIssueInput
	mine     patch
	others   []patch  // that were made after we read
	last     int      // the newest journal that was seen
	conflict *journal // of ours, with the text of somebody else that it replaced
	failed   error    // why our own edit is not in the text
}

// A patch is a change of a text.
type patch struct{ from, to string }

func newDescriptionEdit(ctx context.Context, s *Toolset, before *issue, in *editIssueInput) *descriptionEdit {
	w := &issueWrite{newChange(ctx, s, before), before}
	return &descriptionEdit{issueWrite: w, in: in, last: newest(before)}
}

func (e *descriptionEdit) run() (*toolpost.Result, error) {
	now := e.before
	for range maxEdits {
		base := string(now.Description)
		next, err := e.compose(base)
		switch {
		case err != nil:
			return nil, e.unmergedError(err)
		case normalizeNewlines(next) == normalizeNewlines(base):
			return e.finish(now)
		}
		stale, err := e.write(next)
		if err != nil {
			return nil, e.unmergedError(err)
		}
		if now, err = e.read(); err != nil {
			return e.readBack() // reports that it cannot be read
		}
		mine := e.journalOf(now, next)
		switch {
		case stale:
		case mine == nil && normalizeNewlines(string(now.Description)) == normalizeNewlines(base):
			return e.readBack() // Redmine ignored it
		case mine == nil, normalizeNewlines(string(mine.change("description").Old)) == normalizeNewlines(base):
			return e.finish(now)
		default:
			if e.conflict = mine; e.others == nil {
				e.mine = patch{normalizeNewlines(base), normalizeNewlines(next)}
			}
			e.others = append(e.others, patches(now, e.last, mine.ID)...)
		}
		e.last = newest(now)
	}
	return nil, e.unmergedError(toolpost.Failed.Errorf("other programs kept changing it"))
}

// compose returns the description with our edit and with the changes of others that
// our change replaced. If they do not fit together, theirs stay.
func (e *descriptionEdit) compose(now string) (string, error) {
	if e.conflict == nil {
		return replacePart(now, e.in.Old, e.in.New, e.in.All)
	}
	text, ok := applyPatches(normalizeNewlines(now), e.others)
	if ok {
		text, ok = applyPatches(text, []patch{e.mine})
	}
	if !ok {
		text, ok = applyPatches(normalizeNewlines(now), append([]patch{{e.mine.to, e.mine.from}}, e.others...))
		if !ok {
			return "", toolpost.Failed.Errorf("both changed the same words")
		}
		own, err := replacePart(text, e.in.Old, e.in.New, e.in.All)
		if err != nil {
			e.failed = toolpost.Retry.Errorf("Another user changed the description of issue %d at the same moment, and the text to replace is no longer there. The description has their change and not yours. Read it again.", e.before.ID)
		} else {
			text = own
		}
	}
	return withLineEnds(text, now), nil
}

// applyPatches makes changes of a text again.
func applyPatches(text string, all []patch) (string, bool) {
	for _, p := range all {
		var ok bool
		if text, ok = merge(p.from, p.to, text); !ok {
			return "", false
		}
	}
	return text, true
}

// patches are the changes of a description in the journals between two ids. Such a
// change may have replaced another one too, so it was made of an older text: the
// oldest one from which it takes nothing back that somebody had added.
func patches(i *issue, after, before int) (all []patch) {
	var states []string
	for k := range i.Journals {
		d := i.Journals[k].change("description")
		if d == nil || i.Journals[k].ID >= before {
			continue
		}
		if states = append(states, normalizeNewlines(string(d.Old))); i.Journals[k].ID <= after {
			continue
		}
		states = states[max(0, len(states)-50):]
		p := patch{normalizeNewlines(string(d.Old)), normalizeNewlines(string(d.New))}
		for _, state := range states {
			if !takesBack(states[0], state, p.to) {
				p.from = state
				break
			}
		}
		all = append(all, p)
	}
	return all
}

// takesBack reports whether the change from one text to another removes a word that
// was not in the first text of all.
func takesBack(first, from, to string) bool {
	had, has := strings.Fields(first), strings.Fields(to)
	return slices.ContainsFunc(strings.Fields(from), func(word string) bool {
		return !slices.Contains(has, word) && !slices.Contains(had, word)
	})
}

// write sends the description. It reports whether Redmine refused it because
// another request changed the issue while it was handled.
func (e *descriptionEdit) write(text string) (stale bool, err error) {
	if e.set["description"] = text; strings.TrimSpace(text) != "" {
		e.text("description", text) // refuses what Redmine takes for nothing
	}
	if e.err != nil {
		return false, e.err
	}
	err = e.s.client.send(e.ctx, http.MethodPut, issueEndpoint().recordPath(e.before.ID)+".json", e.body("issue"), nil)
	var f *responseError
	if errors.As(err, &f) && (f.status == http.StatusConflict || f.status == http.StatusUnprocessableEntity && len(f.errors) == 0) {
		return true, nil
	}
	return false, explain(err, fmt.Sprintf("the change of issue %d", e.before.ID))
}

func (e *descriptionEdit) readBack() (*toolpost.Result, error) {
	return e.endpoint().readBack(e.issueWrite.write, issueEndpoint().recordPath(e.before.ID))
}

func (e *descriptionEdit) read() (*issue, error) {
	return issueEndpoint().get(withoutCache(e.ctx), e.s, issueEndpoint().recordPath(e.before.ID), "journals")
}

// journalOf returns the journal of the change to text, nil if there is none. Of
// several programs that wrote the same it is the last: none may then overlook what
// one of them replaced.
func (e *descriptionEdit) journalOf(now *issue, text string) *journal {
	for i := range slices.Backward(now.Journals) {
		j := &now.Journals[i]
		if d := j.change("description"); j.ID > e.last && d != nil && normalizeNewlines(string(d.New)) == normalizeNewlines(text) && !isOlder(e.issueWrite, *j) {
			return j
		}
	}
	return nil
}

// unmergedError is the error of an edit that ends before both texts are
// together.
func (e *descriptionEdit) unmergedError(err error) error {
	if e.conflict == nil {
		return err
	}
	return toolpost.Failed.Errorf("Changed the description of issue %d, but this replaced what another user wrote at the same moment; the note %d keeps that text. The two could not be merged: %v. Read the issue and merge them.", e.before.ID, e.conflict.ID, err)
}

// finish answers with the issue, once the edit is in its description. Another program
// that replaced it at the same moment may be about to put it back.
func (e *descriptionEdit) finish(now *issue) (*toolpost.Result, error) {
	if e.failed != nil {
		return nil, e.failed
	}
	// Where others write at this moment, one that has read before us may come after us.
	checked := e.conflict == nil
	for pause := 200 * time.Millisecond; !checked || !e.isStored(now); pause *= 2 {
		if checked && pause > 2*time.Second {
			return nil, toolpost.Retry.Errorf("Your edit of issue %d was overwritten by %s at the same moment. Read the issue and edit it again.", e.before.ID, lastChange(now))
		}
		select {
		case <-time.After(pause):
		case <-e.ctx.Done():
			return nil, context.Cause(e.ctx)
		}
		var err error
		if now, err = e.read(); err != nil {
			return nil, explain(err, fmt.Sprintf("issue %d", e.before.ID))
		}
		checked = true
	}
	delete(e.set, "description") // it may have changed again already
	ours := *e.before
	ours.Description = now.Description // otherwise our own edit is reported as a change of another user
	e.issueWrite.before = &ours
	return e.readBack()
}

// lastChange names the newest change of an issue.
func lastChange(i *issue) string {
	if len(i.Journals) == 0 {
		return "another change"
	}
	j := i.Journals[len(i.Journals)-1]
	return fmt.Sprintf("a change of %s (note %d)", j.User.Name, j.ID)
}

// isStored reports whether the edit is in the description of an issue: as it was given,
// or, if others edited the same place, with every word that it added.
func (e *descriptionEdit) isStored(now *issue) bool {
	text, old := normalizeNewlines(string(now.Description)), strings.Fields(e.in.Old)
	if e.in.New != "" && strings.Contains(text, normalizeNewlines(e.in.New)) {
		return true
	}
	added := slices.DeleteFunc(strings.Fields(e.in.New), func(word string) bool { return slices.Contains(old, word) })
	if len(added) == 0 {
		return !strings.Contains(text, normalizeNewlines(e.in.Old))
	}
	return !slices.ContainsFunc(added, func(word string) bool { return !strings.Contains(text, word) })
}

// newest is the id of the newest journal of an issue.
func newest(i *issue) (last int) {
	for _, j := range i.Journals {
		last = max(last, j.ID)
	}
	return last
}

// withLineEnds returns text with the line ends of like.
func withLineEnds(text, like string) string {
	if strings.Contains(like, "\r\n") {
		return strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text
}

// replacePart returns text with a part of it replaced. Redmine keeps lines that end
// with CR LF: they stay so.
func replacePart(text, part, by string, all bool) (string, error) {
	was := text
	text, part, by = normalizeNewlines(text), normalizeNewlines(part), normalizeNewlines(by)
	switch n := strings.Count(text, part); {
	case n == 0:
		return "", toolpost.Retry.Errorf("The text to replace was not found. Read the whole text, and copy the part exactly.")
	case n > 1 && !all:
		return "", toolpost.Retry.Errorf("The text to replace occurs %d times. Give more of the text around it, or set replace_all.", n)
	}
	return withLineEnds(strings.ReplaceAll(text, part, by), was), nil
}
