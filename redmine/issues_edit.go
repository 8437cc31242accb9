package redmine

import (
	"context"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
)

type editIssueInput struct {
	ID   string `json:"id" jsonschema:"description=Issue id"`
	Old  string `json:"old_text" jsonschema:"minLength=1,description=Text of the description to replace. It must stand there once"`
	New  string `json:"new_text" jsonschema:"description=Text to put in its place"`
	All  bool   `json:"replace_all,omitempty" jsonschema:"description=Whether to replace every occurrence"`
	Seen string `json:"updated_on,omitempty" jsonschema:"description=Time of the last change that you have seen. The edit is refused if there was a later one"`
}

func editIssue(s *Server) entry {
	return tool(s, "edit_issue_description", "Edit an issue's description", "Replace a part of an issue's description and leave the rest as it is.\nThe text to replace must stand there exactly once.", changes,
		func(ctx context.Context, in editIssueInput) (*toolpost.Result, error) {
			s.editing.Lock() // Redmine has no way to refuse an edit of what has changed
			defer s.editing.Unlock()
			before, err := issueAt(ctx, s, in.ID, "")
			if err != nil {
				return nil, err
			}
			if err := unseen(before, in.Seen); err != nil {
				return nil, err
			}
			return edit(ctx, s, before, &in)
		})
}

// unseen refuses to change what was changed after it was read.
func unseen(i *issue, seen string) error {
	if seen != "" && seen != i.UpdatedOn {
		return toolpost.Retry("Issue %d was changed at %s, after %s. Read it again, and make your change to what it is now.", i.ID, i.UpdatedOn, seen)
	}
	return nil
}

// mostEdits is how often an edit is made again that met one of another program.
const mostEdits = 4

// edit edits a description. Another program may write it between our reading and
// our writing: its text is then in the journal of our change, and is edited too.
func edit(ctx context.Context, s *Server, before *issue, in *editIssueInput) (*toolpost.Result, error) {
	w := &issueWrite{write: newWrite(ctx, s, before.Project.ID), before: before}
	text, met := before.Description, (*journal)(nil)
	for range mostEdits {
		next, err := replaced(text, in.Old, in.New, in.All)
		if err == nil {
			w.set["description"] = next
			w.text("description", next) // refuses what Redmine takes for nothing
			err = w.err
		}
		if err != nil {
			return nil, err
		}
		over, err := over(w)
		switch {
		case err != nil && met != nil:
			return nil, lostTo(w, met, err)
		case err != nil:
			return nil, err
		}
		if over == nil {
			break
		}
		w.before.Description, text, met = next, over.change("description").Old, over
		if _, err := replaced(text, in.Old, in.New, in.All); err != nil {
			return nil, back(w, text, met)
		}
	}
	return w.kind().told(w.write, issueKind().at(before.ID))
}

// over sends the description, and returns the journal of the change if it
// replaced what somebody else wrote meanwhile.
func over(w *issueWrite) (*journal, error) {
	at := issueKind().at(w.before.ID)
	if err := w.s.client.send(w.ctx, "PUT", at+".json", w.body("issue"), nil); err != nil {
		return nil, explain(err, fmt.Sprintf("the change of issue %d", w.before.ID))
	}
	now, err := issueKind().get(w.ctx, w.s, at, "journals")
	if err != nil {
		return nil, nil //nolint:nilerr // what follows reads it again, and tells
	}
	return w.overwritten(now), nil
}

// back writes what somebody else wrote meanwhile, where it cannot be edited.
func back(w *issueWrite, theirs string, met *journal) error {
	w.set["description"] = theirs
	if _, err := over(w); err != nil {
		return lostTo(w, met, err)
	}
	return toolpost.Retry("Somebody else changed the description of issue %d at the same moment, and the text to replace is not there any more. Nothing was changed; read it again.", w.before.ID)
}

// lostTo tells that an edit is made, and that what somebody else wrote could not be
// kept beside it.
func lostTo(w *issueWrite, met *journal, err error) error {
	return toolpost.Failed("Changed the description of issue %d, but it replaced what somebody else wrote at the same moment: the note %d keeps that. To put both together failed: %v", w.before.ID, met.ID, err)
}

// replaced returns text with a part of it replaced. Redmine keeps lines that end
// with CR LF: they stay so.
func replaced(text, part, by string, all bool) (string, error) {
	crlf := strings.Contains(text, "\r\n")
	text, part, by = lf(text), lf(part), lf(by)
	switch n := strings.Count(text, part); {
	case n == 0:
		return "", toolpost.Retry("The text to replace is not there. Read the whole text, and copy the part exactly.")
	case n > 1 && !all:
		return "", toolpost.Retry("The text to replace is there %d times. Give more of the text around it, or replace all.", n)
	}
	text = strings.ReplaceAll(text, part, by)
	if crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	return text, nil
}
