package redminetest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/redmine"
)

// TestOwnTime: a list that Redmine cuts to the time of the account says so.
func TestOwnTime(t *testing.T) {
	for _, visible := range []string{"own", "all"} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/users/current.json":
				fmt.Fprint(w, `{"user":{"id":7,"login":"carol","memberships":[{"id":9,"project":{"id":1,"name":"Alpha"},"roles":[{"id":5,"name":"Reporter"}]}]}}`)
			case "/roles/5.json":
				fmt.Fprintf(w, `{"role":{"id":5,"name":"Reporter","time_entries_visibility":%q,"permissions":["view_time_entries"]}}`, visible)
			default:
				fmt.Fprint(w, `{"time_entries":[],"total_count":0,"offset":0,"limit":50}`)
			}
		}))
		text, facts, failed := says(t, &redmine.Options{URL: server.URL, User: "carol", Password: "12345678"}, "list_time_entries", `{}`)
		server.Close()
		const told = "This account cannot see the time of others in Alpha [1]."
		if want := visible == "own"; failed || strings.Contains(text, told) != want || strings.Contains(facts, told) != want {
			t.Errorf("with a role that sees %s time: %s%s", visible, text, facts)
		}
	}
}

// TestIncluded: what a list of issues includes is also in what programs get.
func TestIncluded(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/users/current.json":
			fmt.Fprint(w, me)
		default:
			fmt.Fprint(w, `{"issues":[{"id":1,"subject":"x","relations":[{"id":3,"issue_id":1,"issue_to_id":2,"relation_type":"blocks"}],"attachments":[{"id":4,"filename":"a.txt"}]}],"total_count":1,"offset":0,"limit":50}`)
		}
	}))
	defer server.Close()
	text, facts, failed := says(t, &redmine.Options{URL: server.URL, User: "admin", Password: "12345678"}, "list_issues", `{"include":"relations,attachments"}`)
	for _, want := range []string{`"relation_type":"blocks"`, `"filename":"a.txt"`} {
		if failed || !strings.Contains(facts, want) {
			t.Errorf("%s%s has no %s", text, facts, want)
		}
	}
}
