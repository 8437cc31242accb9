package redmine_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestRightsOfNow: a right that an administrator has just given or taken counts at once
// where something would be private.
func TestRightsOfNow(t *testing.T) {
	role := func(rights string) string {
		return fmt.Sprintf(`{"role":{"id":3,"name":"Developer","permissions":[%s]}}`, rights)
	}
	const private, own = `"add_issues","set_issues_private","set_notes_private"`, `"add_issues"`
	for _, c := range []struct {
		tool, arguments, sends string
		before, after          string
		refused                bool
	}{
		{"create_issue", `{"project_id":"1","subject":"S","is_private":"true"}`, "POST /issues.json", private, own, true},
		{"create_issue", `{"project_id":"1","subject":"S","is_private":"true"}`, "POST /issues.json", own, private, false},
		{"update_issue", `{"id":"5","notes":"N","private_notes":true}`, "PUT /issues/5.json", private, own, true},
		{"update_issue", `{"id":"5","notes":"N","private_notes":true}`, "PUT /issues/5.json", own, private, false},
	} {
		f := newFake(map[string]string{
			"GET /users/current.json": `{"user":{"id":2,"login":"alice","firstname":"Alice","lastname":"A","memberships":[{"id":1,"project":{"id":1,"name":"P"},"roles":[{"id":3,"name":"Developer"}]}]}}`,
			"GET /projects/1.json":    `{"project":{"id":1,"name":"P"}}`,
			"GET /roles/3.json":       role(c.before),
			"GET /issues/5.json":      `{"issue":{"id":5,"subject":"S","project":{"id":1,"name":"P"},"is_private":true}}`,
			"POST /issues.json":       `{"issue":{"id":5}}`,
			"PUT /issues/5.json":      ``,
		})
		set := f.open(t)
		_, _ = use(t.Context(), t, set, c.tool, c.arguments) // reads the role
		f.mu.Lock()
		f.answers["GET /roles/3.json"], f.requests = role(c.after), nil
		f.mu.Unlock()
		text, _ := use(t.Context(), t, set, c.tool, c.arguments)
		if sent := f.count(c.sends) > 0; sent == c.refused || c.refused != strings.Contains(text, "This account may not") {
			t.Errorf("%s %s, then %s: sent %v: %s", c.tool, c.before, c.after, sent, text)
		}
	}
}
