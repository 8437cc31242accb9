package redmine

import (
	"context"
	"errors"
	"fmt"

	"github.com/toolpost/toolpost"
)

// relationEndpoint is how relations are made and removed. Redmine may store one the
// other way round, so only its delay is compared.
func relationEndpoint() endpoint[relation] {
	return endpoint[relation]{
		collection: collection{key: "relation", path: "/relations"},
		name:       func(r *relation) string { return fmt.Sprintf("relation [%d]", r.ID) },
	}
}

func (r relation) String() string { return fmt.Sprintf("[%d] %s", r.ID, r.text()) }

func (r relation) text() string {
	text := fmt.Sprintf("#%d %s #%d", r.From, r.Type, r.To)
	if r.Delay != nil && *r.Delay != 0 {
		text += fmt.Sprintf(", %d days between", *r.Delay)
	}
	return text
}

type listRelationsInput struct {
	Issue string `json:"issue_id"`
}

func listRelations(s *Toolset) entry {
	return listTool(s, "list_issue_relations", "List relations", "List how an issue relates to others.", "relations", "relations",
		func(ctx context.Context, in listRelationsInput, _ idName) (*listing, error) {
			n, err := id("an issue", in.Issue)
			if err != nil {
				return nil, err
			}
			all, err := relations(ctx, s, n)
			return every(all), err
		})
}

func relations(ctx context.Context, s *Toolset, issue int) ([]relation, error) {
	var answer struct {
		Relations []relation `json:"relations"`
	}
	err := s.client.get(ctx, fmt.Sprintf("/issues/%d/relations.json", issue), nil, &answer)
	return answer.Relations, explain(err, fmt.Sprintf("the relations of issue %d", issue))
}

type createRelationInput struct {
	Issue string `json:"issue_id"`
	To    string `json:"issue_to_id"`
	Type  string `json:"relation_type,omitempty" jsonschema:"enum=relates,enum=duplicates,enum=duplicated,enum=blocks,enum=blocked,enum=precedes,enum=follows,enum=copied_to,enum=copied_from,default=relates"`
	Delay int    `json:"delay,omitempty" desc:"Days"`
}

func createRelation(s *Toolset) entry {
	return tool(s, "create_issue_relation", "Relate two issues", "Relate an issue to another.", adds,
		func(ctx context.Context, in createRelationInput) (*toolpost.Result, error) {
			n, err := id("an issue", in.Issue)
			to, err2 := id("an issue", in.To)
			if err := errors.Join(err, err2); err != nil {
				return nil, err
			}
			w := newWrite(ctx, s, 0)
			w.set["issue_to_id"], w.set["relation_type"] = to, in.Type
			if in.Delay != 0 {
				w.set["delay"] = in.Delay
			}
			return relationEndpoint().create(w, issueEndpoint().recordPath(n)+"/relations", fmt.Sprintf("the relation of issue %d to issue %d", n, to))
		})
}

// A relationID says which relation. Its deletion needs no confirmation.
type relationID struct {
	ID string `json:"id"`
}

func (in *relationID) find(ctx context.Context, s *Toolset) (*relation, error) {
	return relationEndpoint().find(ctx, s, "a relation", in.ID, "")
}

func (relationID) isConfirmed() bool { return true }

func deleteRelation(s *Toolset) entry {
	return deleteTool(s, relationEndpoint, "delete_issue_relation", "Remove a relation", "Remove a relation between two issues.",
		func(_ context.Context, _ *relationID, one *relation, r *removal) error {
			r.what = "relation " + one.String()
			return nil
		})
}

type relation struct {
	ID    int    `json:"id"`
	From  int    `json:"issue_id"`
	To    int    `json:"issue_to_id"`
	Type  string `json:"relation_type"`
	Delay *int   `json:"delay,omitempty" set:"delay"`
}

type issueRelations []relation

func (all issueRelations) lines() (text string) {
	for _, r := range all {
		text += fmt.Sprintf("- relation [%d]: %s\n", r.ID, r.text())
	}
	return text
}
