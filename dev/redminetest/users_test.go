package redminetest

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/redmine"
)

// TestUsersOfRedmine6: all users are asked for in another way than of 5.0, which
// the recordings are of.
func TestUsersOfRedmine6(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/users/current.json":
			fmt.Fprint(w, `{"user":{"id":1,"login":"admin","admin":true}}`)
		case r.URL.Query().Get("status") != "*":
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprint(w, `{"errors":["Status cannot be blank"]}`)
		default:
			fmt.Fprint(w, `{"users":[{"id":8,"login":"dave","firstname":"Dave","lastname":"Locked","status":3}],"total_count":1,"offset":0,"limit":100}`)
		}
	}))
	defer server.Close()
	o := &redmine.Options{URL: server.URL, Key: "key-of-admin"}
	if text, _, _ := says(t, o, "list_users", `{"status":"all"}`); !strings.Contains(text, "Dave Locked [8] | dave | locked") {
		t.Error(text)
	}
}
