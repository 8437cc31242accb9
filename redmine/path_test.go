package redmine_test

import (
	"strings"
	"testing"
)

const anIssue = `{"issue":{"id":5,"subject":"Login","project":{"id":1,"name":"Alpha"},"tracker":{"id":1,"name":"Bug"},
 "status":{"id":1,"name":"New"},"priority":{"id":2,"name":"Normal"},"author":{"id":5,"name":"Alice"},
 "updated_on":"2026-01-01T00:00:00Z","changesets":[],"custom_fields":[]}}`

// TestPathsStayInside: no argument may lead a request elsewhere, not even through a
// proxy that decodes and folds paths.
func TestPathsStayInside(t *testing.T) {
	f := newFake(map[string]string{
		"GET /projects/alpha.json":        `{"project":{"id":1,"name":"Alpha","identifier":"alpha"}}`,
		"GET /projects/1.json":            `{"project":{"id":1,"name":"Alpha","identifier":"alpha"}}`,
		"GET /projects.json":              `{"projects":[{"id":1,"name":"Alpha","identifier":"alpha"}],"total_count":1}`,
		"GET /issues/5.json":              anIssue,
		"GET /versions/2.json":            `{"version":{"id":2,"name":"1.0","project":{"id":1,"name":"Alpha"},"wiki_page_title":"../../../users/current"}}`,
		"GET /custom_fields.json":         `{"custom_fields":[]}`,
		"PUT /versions/2.json":            ``,
		"GET /projects/1/wiki/index.json": `{"wiki_pages":[]}`,
	})
	set := f.open(t)
	for _, up := range []string{
		"..", ".", "../../../../..", "%2e%2e", "%252e%252e", "..%2F..", `..\..`, "..;x", "a/../../b", "．．", "a\nb", "a b", "",
	} {
		for _, call := range [][2]string{
			{"unlink_revision", `{"project_id":"alpha","repository_id":"main","revision":` + quote(up) + `,"issue_id":"5"}`},
			{"unlink_revision", `{"project_id":"alpha","repository_id":` + quote(up) + `,"revision":"abc","issue_id":"5"}`},
			{"link_revision", `{"project_id":"alpha","repository_id":"main","revision":` + quote(up) + `,"issue_id":"5"}`},
			{"unlink_revision", `{"project_id":` + quote(up) + `,"repository_id":"main","revision":"abc","issue_id":"5"}`},
			{"unarchive_project", `{"id":` + quote(up) + `}`},
			{"get_wiki_page", `{"project_id":"alpha","title":` + quote(up) + `}`},
			{"delete_wiki_page", `{"project_id":"alpha","title":` + quote("x/"+up) + `,"confirm":true}`},
			{"update_version", `{"id":"2","project_id":"alpha","wiki_page_title":` + quote(up) + `}`},
		} {
			use(t.Context(), t, set, call[0], call[1])
		}
	}
	for _, r := range f.requests {
		_, uri, _ := strings.Cut(r, " ")
		path, _, _ := strings.Cut(uri, "?")
		for decoded := range strings.SplitSeq(strings.NewReplacer("%2F", "/", "%2f", "/", "%5C", "/", "%252e", ".", "%2e", ".", "%2E", ".").Replace(path), "/") {
			if name, _, _ := strings.Cut(decoded, ";"); name == "." || name == ".." {
				t.Errorf("sent: %s", r)
			}
		}
		if strings.HasPrefix(r, "DELETE ") || strings.HasPrefix(r, "POST ") {
			t.Errorf("sent: %s", r)
		}
	}
	if text, failed := use(t.Context(), t, set, "unlink_revision", `{"project_id":"alpha","repository_id":"main","revision":"3f2a.b-c_1","issue_id":"5"}`); f.count("DELETE /projects/1/repository/main/revisions/3f2a.b-c_1/issues/5.json") != 1 {
		t.Errorf("a revision as Redmine has them: %v %s", failed, text)
	}
}
