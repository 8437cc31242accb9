package redminetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
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
	s, err := redmine.New(&redmine.Options{URL: server.URL, Key: "key-of-admin"})
	if err != nil {
		t.Fatal(err)
	}
	set, err := toolpost.NewSet(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	r, err := set.Call(t.Context(), &toolpost.Call{Name: "list_users", Arguments: json.RawMessage(`{"status":"all"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := r.FirstText(); !strings.Contains(text, "Dave Locked [8] | dave |  | locked") {
		t.Error(text)
	}
}
