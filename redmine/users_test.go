package redmine_test

import (
	"strings"
	"testing"
)

// TestPartOfAName: the rights and the login of another user are not changed by a part of
// a name; other things are, with a note.
func TestPartOfAName(t *testing.T) {
	f := newFake(map[string]string{
		"GET /users.json":   `{"users":[{"id":7,"login":"oxford","firstname":"Ann","lastname":"Oxford","mail":"a@b.c"}],"total_count":1}`,
		"GET /users/7.json": `{"user":{"id":7,"login":"oxford","firstname":"Ann","lastname":"Oxford","mail":"a@b.c"}}`,
		"PUT /users/7.json": ``,
		"GET /groups.json":  `{"groups":[{"id":3,"name":"Managers"}]}`,
	})
	set := f.open(t)
	for _, arguments := range []string{`"mail":"x@y.z"`, `"group_ids":["Managers"]`, `"admin":"true"`, `"password":"12345678"`} {
		text, failed := use(t.Context(), t, set, "update_user", `{"id":"Oxf",`+arguments+`}`)
		if !failed || !strings.Contains(text, "only a part of the name") {
			t.Errorf("%s: %s", arguments, text)
		}
	}
	if n := f.count("PUT /users/7.json"); n > 0 {
		t.Errorf("the user was changed %d times", n)
	}
	if text, failed := use(t.Context(), t, set, "update_user", `{"id":"Oxf","mail_notification":"none"}`); failed || !strings.Contains(text, "Changed user Ann Oxford [7]") {
		t.Error(text)
	}
}
