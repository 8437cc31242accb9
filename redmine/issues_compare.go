package redmine

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// compare records what was to be added or removed, and was not.
func (w *issueWrite) compare(now *issue) {
	w.compareComment(now)
	w.compareFilesAndWatchers(now)
	if w.before == nil {
		now.Journals = nil
		w.leaveOutHistory(now)
		return
	}
	w.noteReplaced(now)
	noteOtherChanges(w, now)
	now.Journals = now.Journals[max(0, len(now.Journals)-1):] // the one of the change
	nameJournalIDs(w.ctx, w.s, now, w.before)
	w.leaveOutHistory(now)
}

// leaveOutHistory keeps long texts in the change of an issue out of the answer, and the hash
// of a description that is left out in it.
func (w *issueWrite) leaveOutHistory(now *issue) {
	for i := range now.Journals {
		j := &now.Journals[i]
		if d := j.change("description"); d != nil && len(d.Old)+len(d.New) > maxEcho {
			d.Old, d.New = "", ""
		}
		if n := utf8.RuneCountInString(string(j.Notes)); n > maxEcho {
			w.notes = append(w.notes, fmt.Sprintf("The comment %d has %d characters and is not repeated here; get_issue returns it.", j.ID, n))
			j.Notes = ""
		}
	}
	if n := utf8.RuneCountInString(string(now.Description)); n > maxEcho {
		w.notes = append(w.notes, fmt.Sprintf("The description has %d characters and is not repeated here; get_issue returns it.", n))
		now.Hash, now.Description = hashOf(string(now.Description)), ""
	}
}

// noteOtherChanges notes what else is not as it was. A move or another tracker drops what does
// not fit, and subtasks go with a move.
func noteOtherChanges(w *issueWrite, now *issue) {
	was, is := settableFields(w.before), settableFields(now)
	for _, name := range sortedKeys(is) {
		if _, asked := w.set[name]; !asked && bare(was[name]) != bare(is[name]) {
			w.notes = append(w.notes, fmt.Sprintf("Redmine or another user also changed %s from %[3]v to %[2]v.", name, clipValue(is[name]), clipValue(was[name])))
		}
	}
	for _, f := range w.before.CustomFields {
		kept := slices.ContainsFunc(now.CustomFields, func(n field) bool { return n.ID == f.ID })
		if v := strings.Join(f.values(), ", "); v != "" && !kept {
			w.notes = append(w.notes, fmt.Sprintf("Custom field %s [%d] does not belong to this tracker and project, so its value %q is gone.", f.Name, f.ID, v))
		}
	}
	if len(w.before.Children) > 0 && w.before.Project.ID != now.Project.ID {
		w.notes = append(w.notes, "Its subtasks moved with it. They lose categories and versions that do not exist there.")
	}
}

func (w *issueWrite) compareComment(now *issue) {
	text, ok := w.set["notes"].(string)
	if !ok {
		return
	}
	private, _ := w.set["private_notes"].(bool)
	for _, j := range slices.Backward(now.Journals) {
		if normalizeNewlines(string(j.Notes)) != normalizeNewlines(text) || isOlder(w, j) {
			continue
		}
		if j.Private != private {
			w.wrong = append(w.wrong, fmt.Sprintf("the comment %d was added, but private is %v", j.ID, j.Private))
		}
		return
	}
	if w.wrong = append(w.wrong, "the comment was not added"); private {
		w.wrong = append(w.wrong, "so none is private")
	}
}

// isOlder reports whether a comment is not of this change: another one may have
// the same text.
func isOlder(w *issueWrite, j journal) bool {
	me, err := w.s.account(w.ctx)
	return err == nil && me.ID > 0 && j.User.ID != me.ID || w.before != nil && j.CreatedOn < w.before.UpdatedOn
}

// compareFilesAndWatchers records the files that are still there, and who does not watch.
func (w *issueWrite) compareFilesAndWatchers(now *issue) {
	removed, _ := w.set["deleted_attachment_ids"].([]int)
	for _, a := range now.Attachments {
		if slices.Contains(removed, a.ID) {
			w.wrong = append(w.wrong, fmt.Sprintf("the file %s [%d] is still there", a.Name, a.ID))
		}
	}
	var before []attachment
	if w.before != nil {
		before = w.before.Attachments
	}
	w.compareFiles(before, now.Attachments)
	watchers, _ := w.set["watcher_user_ids"].([]int)
	for _, id := range watchers {
		if !slices.ContainsFunc(now.Watchers, func(n idName) bool { return n.ID == id }) {
			w.wrong = append(w.wrong, fmt.Sprintf("user %d does not watch it, or this account may not see who does", id))
		}
	}
}

// noteReplaced notes a description that somebody else wrote after this account read
// the one before, and that is lost from the issue. The journal keeps it.
func (w *issueWrite) noteReplaced(now *issue) {
	if over := w.findOverwritten(now); over != nil {
		w.notes = append(w.notes, fmt.Sprintf("Another user changed the description at the same moment. Their text was replaced by yours; the note %d keeps it.", over.ID))
	}
}

// findOverwritten returns the journal of the change that replaced another description than
// the one that was read, nil if there is none.
func (w *issueWrite) findOverwritten(now *issue) *journal {
	text, ok := w.set["description"].(string)
	if !ok || w.before == nil {
		return nil
	}
	for i := range slices.Backward(now.Journals) {
		d := now.Journals[i].change("description")
		switch {
		case d == nil || normalizeNewlines(string(d.New)) != normalizeNewlines(text):
		case normalizeNewlines(string(d.Old)) != normalizeNewlines(string(w.before.Description)):
			return &now.Journals[i]
		default:
			return nil
		}
	}
	return nil
}

// change is what a journal says of a field, nil for nothing.
func (j *journal) change(name string) *detail {
	for i, d := range j.Details {
		if d.Property == "attr" && d.Name == name {
			return &j.Details[i]
		}
	}
	return nil
}
