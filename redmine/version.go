package redmine

import (
	"context"
	"encoding/json"

	"github.com/toolpost/toolpost"
)

// newer says whether Redmine is 5.1 or later. The API does not tell its version:
// from 5.1 on, statuses have descriptions.
func newer(ctx context.Context, s *Server) (bool, error) {
	var answer struct {
		Statuses []map[string]json.RawMessage `json:"issue_statuses"`
	}
	if err := s.client.get(ctx, "/issue_statuses.json", nil, &answer); err != nil {
		return false, explain(err, "the list of statuses")
	}
	for _, status := range answer.Statuses {
		if _, ok := status["description"]; ok {
			return true, nil
		}
	}
	return false, nil
}

// needs51 refuses what Redmine 5.0 would ignore.
func needs51(ctx context.Context, s *Server, what string) error {
	ok, err := newer(ctx, s)
	if err == nil && !ok {
		err = toolpost.Failed("%s needs Redmine 5.1 or later; this one is older, and would ignore it.", upper(what))
	}
	return err
}
