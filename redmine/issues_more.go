package redmine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

type deleteIssueInput struct {
	ID      string `json:"id" jsonschema:"description=Issue id"`
	Confirm bool   `json:"confirm,omitempty" jsonschema:"description=Whether to delete it. Without this the answer only shows what would go"`
	Time    string `json:"time_entries,omitempty" jsonschema:"enum=delete,enum=keep,enum=move,default=delete,description=What becomes of its logged time: keep it in the project or move it to another issue"`
	To      string `json:"move_to_issue_id,omitempty" jsonschema:"description=Issue that gets the logged time"`
}

func deleteIssue(s *Server) entry {
	return tool(s, "delete_issue", "Delete an issue", "Delete an issue with its subtasks, comments and files, for good.\nWithout confirm the answer shows what would go, and nothing is deleted.", removes,
		func(ctx context.Context, in deleteIssueInput) (*toolpost.Result, error) {
			n, err := id("an issue", in.ID)
			if err != nil {
				return nil, err
			}
			i, err := readIssue(ctx, s, n, "children,attachments,journals")
			if err != nil {
				return nil, err
			}
			if !in.Confirm {
				return wouldDelete(s, i)
			}
			path, err := deletion(n, in.Time, in.To)
			if err != nil {
				return nil, err
			}
			if err := s.client.send(ctx, "DELETE", path, nil, nil); err != nil {
				return nil, explain(err, fmt.Sprintf("the deletion of issue %d", n))
			}
			if _, err := readIssue(ctx, s, n, ""); err == nil {
				return nil, toolpost.Failed("Redmine said that issue %d is deleted, but it is still there.", n)
			}
			return s.done(fmt.Sprintf("Deleted issue %d: %s.", n, i.Subject), map[string]any{"deleted": n})
		})
}

// deletion returns the path. Without a word Redmine deletes logged time too.
func deletion(n int, time, to string) (string, error) {
	path := fmt.Sprintf("/issues/%d.json?todo=", n)
	switch time {
	case "keep":
		return path + "nullify", nil
	case "move":
		target, err := id("an issue", to)
		return fmt.Sprintf("%sreassign&reassign_to_id=%d", path, target), err
	}
	return path + "destroy", nil
}

// wouldDelete shows what goes with an issue.
func wouldDelete(s *Server, i *issue) (*toolpost.Result, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "Nothing is deleted yet. With issue %d, %s, would go:\n", i.ID, i.Subject)
	children(&b, i.Children, "- subtask ")
	fmt.Fprintf(&b, "- %d comments and changes\n- %d files\n- %s of logged time, unless it is kept or moved\n", len(i.Journals), len(i.Attachments), hours(i.TotalSpent))
	b.WriteString("Call again with confirm true to delete it.\n")
	return s.done(b.String(), map[string]any{
		"deleted": nil, "subtasks": i.Children, "notes": len(i.Journals), "files": len(i.Attachments), "spent_hours": i.TotalSpent,
	})
}

// done answers with one line and a few facts.
func (s *Server) done(text string, facts map[string]any) (*toolpost.Result, error) {
	return s.answer(text+"\n", facts)
}

type watcherInput struct {
	Issue string `json:"issue_id" jsonschema:"description=Issue id"`
	User  string `json:"user_id" jsonschema:"description=Person id or name or me"`
}

func addWatcher(s *Server) entry {
	return tool(s, "add_issue_watcher", "Add a watcher", "Have somebody watch an issue.", changes,
		func(ctx context.Context, in watcherInput) (*toolpost.Result, error) { return watch(ctx, s, in, true) })
}

func removeWatcher(s *Server) entry {
	return tool(s, "remove_issue_watcher", "Remove a watcher", "Have somebody watch an issue no longer.", changes,
		func(ctx context.Context, in watcherInput) (*toolpost.Result, error) { return watch(ctx, s, in, false) })
}

// watch changes who watches. Redmine takes any number for a user, so it is read
// back.
func watch(ctx context.Context, s *Server, in watcherInput, on bool) (*toolpost.Result, error) {
	n, err := id("an issue", in.Issue)
	if err != nil {
		return nil, err
	}
	i, err := readIssue(ctx, s, n, "")
	if err != nil {
		return nil, err
	}
	who, err := s.person(ctx, i.Project.ID, in.User)
	if err != nil {
		return nil, err
	}
	path := fmt.Sprintf("/issues/%d/watchers", n)
	if on {
		err = s.client.send(ctx, "POST", path+".json", map[string]int{"user_id": who.ID}, nil)
	} else {
		err = s.client.send(ctx, "DELETE", fmt.Sprintf("%s/%d.json", path, who.ID), nil, nil)
	}
	if err != nil {
		return nil, explain(err, fmt.Sprintf("the watchers of issue %d", n))
	}
	if i, err = readIssue(ctx, s, n, "watchers"); err != nil {
		return nil, err
	}
	if watches := slices.ContainsFunc(i.Watchers, func(w named) bool { return w.ID == who.ID }); watches != on && (!on || i.Watchers != nil) {
		return nil, toolpost.Failed("Redmine took the request, but the watchers of issue %d are: %s.", n, listed(i.Watchers))
	}
	return s.done(fmt.Sprintf("The watchers of issue %d are: %s.", n, listed(i.Watchers)), map[string]any{"id": n, "watchers": i.Watchers})
}

type listRelationsInput struct {
	Issue string `json:"issue_id" jsonschema:"description=Issue id"`
}

func listRelations(s *Server) entry {
	return tool(s, "list_issue_relations", "List relations", "List how an issue relates to others.", reads,
		func(ctx context.Context, in listRelationsInput) (*toolpost.Result, error) {
			n, err := id("an issue", in.Issue)
			if err != nil {
				return nil, err
			}
			all, err := relations(ctx, s, n)
			if err != nil {
				return nil, err
			}
			text := fmt.Sprintf("Issue %d has %d relations.\n", n, len(all))
			for _, r := range all {
				text += fmt.Sprintf("- [%d] #%d %s #%d\n", r.ID, r.From, r.Type, r.To)
			}
			return s.answer(text, map[string]any{"relations": all})
		})
}

func relations(ctx context.Context, s *Server, issue int) ([]relation, error) {
	var answer struct {
		Relations []relation `json:"relations"`
	}
	err := s.client.get(ctx, fmt.Sprintf("/issues/%d/relations.json", issue), nil, &answer)
	return answer.Relations, explain(err, fmt.Sprintf("the relations of issue %d", issue))
}

type createRelationInput struct {
	Issue string `json:"issue_id" jsonschema:"description=Issue id"`
	To    string `json:"issue_to_id" jsonschema:"description=Id of the other issue"`
	Type  string `json:"relation_type,omitempty" jsonschema:"enum=relates,enum=duplicates,enum=duplicated,enum=blocks,enum=blocked,enum=precedes,enum=follows,enum=copied_to,enum=copied_from,default=relates,description=What the first is to the other"`
	Delay int    `json:"delay,omitempty" jsonschema:"description=Days between them if one precedes the other"`
}

func createRelation(s *Server) entry {
	return tool(s, "create_issue_relation", "Relate two issues", "Relate an issue to another one.\nRedmine may store the relation the other way round.", adds,
		func(ctx context.Context, in createRelationInput) (*toolpost.Result, error) {
			n, err := id("an issue", in.Issue)
			to, err2 := id("an issue", in.To)
			if err := errors.Join(err, err2); err != nil {
				return nil, err
			}
			set := map[string]any{"issue_to_id": to, "relation_type": in.Type}
			if in.Delay != 0 {
				set["delay"] = in.Delay
			}
			var answer struct {
				Relation relation `json:"relation"`
			}
			err = s.client.send(ctx, "POST", fmt.Sprintf("/issues/%d/relations.json", n), map[string]any{"relation": set}, &answer)
			if err != nil {
				return nil, explain(err, fmt.Sprintf("the relation of issue %d to issue %d", n, to))
			}
			r := answer.Relation
			return s.answer(fmt.Sprintf("Created relation [%d]: #%d %s #%d.\n", r.ID, r.From, r.Type, r.To), answer)
		})
}

type deleteRelationInput struct {
	ID string `json:"id" jsonschema:"description=Relation id from the list of relations"`
}

func deleteRelation(s *Server) entry {
	return tool(s, "delete_issue_relation", "Remove a relation", "Remove a relation between two issues. The issues stay.", removes,
		func(ctx context.Context, in deleteRelationInput) (*toolpost.Result, error) {
			n, err := id("a relation", in.ID)
			if err != nil {
				return nil, err
			}
			if err := s.client.send(ctx, "DELETE", fmt.Sprintf("/relations/%d.json", n), nil, nil); err != nil {
				return nil, explain(err, fmt.Sprintf("relation %d", n))
			}
			return s.done(fmt.Sprintf("Removed relation %d.", n), map[string]any{"deleted": n})
		})
}

type updateCommentInput struct {
	ID      string  `json:"id" jsonschema:"description=Comment id as shown with the issue"`
	Notes   *string `json:"notes,omitempty" jsonschema:"description=New text. Empty removes the comment"`
	Private string  `json:"private_notes,omitempty" jsonschema:"enum=true,enum=false,description=Whether the comment is private"`
}

func updateComment(s *Server) entry {
	return tool(s, "update_issue_comment", "Change a comment", "Change the text of a comment of an issue, or whether it is private.\nA comment without text is removed.", changes,
		func(ctx context.Context, in updateCommentInput) (*toolpost.Result, error) {
			n, err := id("a comment", in.ID)
			if err != nil {
				return nil, err
			}
			set := map[string]any{}
			if in.Notes != nil {
				set["notes"] = *in.Notes
			}
			if in.Private != "" {
				set["private_notes"] = in.Private == "true"
			}
			if len(set) == 0 {
				return nil, toolpost.Retry("Nothing to change: give notes or private_notes.")
			}
			if err := s.client.send(ctx, "PUT", fmt.Sprintf("/journals/%d.json", n), map[string]any{"journal": set}, nil); err != nil {
				return nil, explain(err, fmt.Sprintf("comment %d", n))
			}
			return s.done(fmt.Sprintf("Changed comment %d.", n), map[string]any{"id": n})
		})
}
