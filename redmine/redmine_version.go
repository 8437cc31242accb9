package redmine

import (
	"bytes"
	"context"
	"net/http"

	"github.com/toolpost/toolpost"
)

// A release is one of Redmine that knows more than 5.0. The API does not name it,
// but there are signs.
type release struct {
	name string
	path string // that is there, for everybody
	has  string // in what is there
}

func v51() release { return release{"5.1", "/issue_statuses.json", `"description":`} }
func v60() release { return release{"6.0", "/help/code_highlighting", ""} }
func v61() release { return release{"6.1", "/oauth/token/info", ""} }
func v70() release { return release{"7.0", "/webhooks", ""} }

// isReachedBy reports whether Redmine is this release or a later one.
func (r release) isReachedBy(ctx context.Context, c *client) (bool, error) {
	data, err := c.read(ctx, r.path, nil)
	if _, later := retryPause(err); later {
		return false, explain(err, "its version")
	}
	switch status(err) {
	case 0:
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden:
		return r.has == "", nil // it is there
	default:
		return false, nil
	}
	return bytes.Contains(data, []byte(r.has)), explain(err, "its version")
}

// requireRelease refuses what an older Redmine would ignore.
func requireRelease(ctx context.Context, s *Toolset, r release, what string) error {
	ok, err := r.isReachedBy(ctx, s.client)
	if err == nil && !ok {
		err = toolpost.Failed.Errorf("%s needs Redmine %s or later; this Redmine is older and would ignore it.", upper(what), r.name)
	}
	return err
}

// foundRelease is the latest of which there is a sign.
func foundRelease(ctx context.Context, s *Toolset) (string, error) {
	for _, r := range []release{v70(), v61(), v60(), v51()} {
		if ok, err := r.isReachedBy(ctx, s.client); err != nil || ok {
			return r.name, err
		}
	}
	return "5.0", nil
}
