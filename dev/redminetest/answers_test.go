package redminetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/redmine"
)

// me is whom a server takes the key for that is a Redmine.
const me = `{"user":{"id":1,"login":"admin","admin":true}}`

// says calls a tool and returns what it says, and its structured content.
func says(t *testing.T, o *redmine.Options, tool, arguments string) (text, facts string, failed bool) {
	t.Helper()
	return ask(t, opened(t, o), tool, arguments)
}

// opened are the tools for a Redmine.
func opened(t *testing.T, o *redmine.Options) *toolpost.Set {
	t.Helper()
	s, err := redmine.New(o)
	if err != nil {
		t.Fatal(err)
	}
	set, err := toolpost.NewSet(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// ask is says of tools that are open.
func ask(t *testing.T, set *toolpost.Set, tool, arguments string) (text, facts string, failed bool) {
	t.Helper()
	r, err := set.Call(t.Context(), &toolpost.Call{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatal(err)
	}
	text, _ = r.FirstText()
	return text, string(r.Structured()), r.IsError()
}

// TestSecrets: what is ours is in no answer and no error, wherever it comes from,
// and what looks like it stays JSON.
func TestSecrets(t *testing.T) {
	const password = "12345678"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/users/current.json":
			fmt.Fprint(w, me)
		case r.URL.Path == "/issues/12345678.json":
			fmt.Fprintf(w, `{"issue":{"id":12345678,"subject":"it is \"%s\"","author":{"id":1,"name":"%[1]s"}}}`, password)
		default:
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprintf(w, `{"errors":["%s is wrong"]}`, password)
		}
	}))
	defer server.Close()
	o := &redmine.Options{URL: server.URL, User: "admin", Password: password}
	text, facts, failed := says(t, o, "get_issue", `{"id":"12345678"}`)
	if failed || strings.Contains(text, password) || !strings.Contains(text, "[secret]") {
		t.Errorf("the issue is %s", text)
	}
	var issue struct {
		ID      int
		Subject string
	}
	if err := json.Unmarshal([]byte(facts), &issue); err != nil || issue.ID != 12345678 || issue.Subject != `it is "[secret]"` {
		t.Errorf("the issue is %s (%v)", facts, err)
	}
	if text, _, failed := says(t, o, "list_issue_statuses", `{}`); !failed || !strings.Contains(text, "[secret] is wrong") {
		t.Errorf("the error is %s", text)
	}
	s, err := redmine.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range s.Features().Prompts {
		if _, err := p.Get(t.Context(), &toolpost.Call{Arguments: json.RawMessage(`{"project":"a ` + password + `","version":"1"}`)}); err == nil || strings.Contains(err.Error(), password) {
			t.Errorf("prompt %s: %v", p.Name, err)
		}
	}
}

// TestElsewhere: what is no Redmine, or what stands before one, is told from it.
func TestElsewhere(t *testing.T) {
	page := func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<html>Sign in</html>")
	}
	for _, c := range []struct {
		name, tool, arguments string
		want                  string // that the error says
		serve                 http.HandlerFunc
	}{
		{"page", "list_projects", `{}`, "with a web page instead of data", func(w http.ResponseWriter, _ *http.Request) { page(w) }},
		{"page after a change", "add_issue_watcher", `{"issue_id":"1","user_id":"me"}`, "Whether the change was made is not known", func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/users/current.json":
				fmt.Fprint(w, me)
			case r.Method == http.MethodGet:
				fmt.Fprint(w, `{"issue":{"id":1,"project":{"id":1}},"memberships":[],"users":[]}`)
			default:
				page(w)
			}
		}},
		{"sign-in page", "list_projects", `{}`, "with a web page instead of data", func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/login" {
				http.Redirect(w, r, "/login", http.StatusFound)
				return
			}
			page(w)
		}},
		{"other host", "list_projects", `{}`, "redirects to https://sso.test", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://sso.test/login", http.StatusFound)
		}},
		{"other API", "list_issue_statuses", `{}`, "There is no Redmine at", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"issue_statuses":[]}`)
		}},
		{"nothing", "list_issue_statuses", `{}`, "There is no Redmine at", func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }},
		{"REST API off", "list_issue_statuses", `{}`, "its REST API is switched off", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }},
		{"key revoked", "list_issue_statuses", `{}`, "does not accept the credentials", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }},
		{"cut", "list_projects", `{}`, "It was asked several times; read again later", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, `{"projects":[`)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // some are asked again after a while
			server := httptest.NewServer(c.serve)
			defer server.Close()
			text, _, failed := says(t, &redmine.Options{URL: server.URL, Key: "key-of-admin"}, c.tool, c.arguments)
			if !failed || !strings.Contains(text, c.want) {
				t.Errorf("no %q in %s", c.want, text)
			}
		})
	}
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	text, _, failed := says(t, &redmine.Options{URL: server.URL, Key: "key-of-admin"}, "create_project", `{"name":"A","identifier":"a"}`)
	if !failed || !strings.Contains(text, "cannot be reached, and nothing was changed") {
		t.Errorf("without a server: %s", text)
	}
}

// TestAddress: addresses and keys are taken as they are copied, or refused with
// what to do.
func TestAddress(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch {
		case !strings.HasPrefix(r.URL.Path, "/red mine/"):
			http.NotFound(w, r)
		case r.Header.Get("X-Redmine-Api-Key") != "key", user+password != "" && user+password != "gatepass":
			w.WriteHeader(http.StatusUnauthorized)
		case strings.HasSuffix(r.URL.Path, "/users/current.json"):
			fmt.Fprint(w, me)
		default:
			fmt.Fprint(w, `{"issue_statuses":[{"id":1,"name":"New"}]}`)
		}
	}))
	defer server.Close()
	host := strings.TrimPrefix(server.URL, "http://")
	for _, address := range []string{server.URL + "/red%20mine", server.URL + "/red%20mine//", " " + server.URL + "/red%20mine/\r\n", "http://gate:pass@" + host + "/red%20mine"} {
		if text, _, failed := says(t, &redmine.Options{URL: address, Key: " key\r\n"}, "list_issue_statuses", `{}`); failed {
			t.Errorf("%q: %s", address, text)
		}
	}
	for _, c := range []struct {
		o    redmine.Options
		want string
	}{
		{redmine.Options{URL: host, Key: "key"}, "with http:// or https://"},
		{redmine.Options{URL: "redmine.test", Key: "key"}, "with http:// or https://"},
		{redmine.Options{URL: server.URL, Key: "two words"}, "copy it again"},
		{redmine.Options{URL: server.URL, Key: "a\nb"}, "copy it again"},
		{redmine.Options{URL: server.URL, Token: "“quoted”"}, "copy it again"},
		{redmine.Options{URL: server.URL}, "there are no credentials"},
		{redmine.Options{URL: server.URL, Key: " \n"}, "there are no credentials"},
		{redmine.Options{URL: server.URL, Key: "key", Anonymous: true}, "several kinds"},
		{redmine.Options{URL: "http://gate:pass@" + host, Anonymous: true}, "several kinds"},
		{redmine.Options{URL: server.URL, User: "a"}, "belong together"},
	} {
		if _, err := redmine.New(&c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
}

// TestReleases: a later Redmine is known by what is there.
func TestReleases(t *testing.T) {
	for _, c := range []struct{ there, statuses, want, filter string }{
		{"", `{"id":1,"name":"New"}`, "5.0", "needs Redmine 5.1 or later"},
		{"", `{"id":1,"name":"New","description":null}`, "5.1", ""},
		{"/help/code_highlighting", `{"id":1,"name":"New","description":null}`, "6.0", ""},
		{"/help/code_highlighting /oauth/token/info", `{"id":1,"name":"New","description":null}`, "6.1", ""},
		{"/help/code_highlighting /oauth/token/info /webhooks", `{"id":1,"name":"New","description":null}`, "7.0", ""},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/users/current.json", "/users/1.json":
				fmt.Fprint(w, `{"user":{"id":1,"login":"admin","mail":"a@b.c"}}`)
			case "/issue_statuses.json":
				fmt.Fprintf(w, `{"issue_statuses":[%s]}`, c.statuses)
			case "/issues.json":
				if r.URL.Query().Get("v[any_searchable][]") == "" { // as for each filter that is known
					w.WriteHeader(http.StatusUnprocessableEntity)
				}
				fmt.Fprint(w, `{"issues":[],"total_count":0,"offset":0,"limit":50}`)
			case "/webhooks", "/oauth/token/info":
				if strings.Contains(c.there, r.URL.Path) {
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				http.NotFound(w, r)
			default:
				if !strings.Contains(c.there, r.URL.Path) {
					http.NotFound(w, r)
				}
			}
		}))
		o := &redmine.Options{URL: server.URL, Key: "key-of-admin"}
		if text, facts, failed := says(t, o, "show_account", `{}`); failed || !strings.Contains(text, "version "+c.want) || !strings.Contains(facts, `"redmine_version":"`+c.want+`"`) {
			t.Errorf("%s: the account is %s %s", c.want, text, facts)
		}
		text, _, failed := says(t, o, "list_issues", `{"filters":[{"field":"any_searchable","operator":"~","values":["a"]}]}`)
		if failed != (c.filter != "") || !strings.Contains(text, c.filter) {
			t.Errorf("%s: the filter is %s", c.want, text)
		}
		server.Close()
	}
}

// TestEditedNote: Redmine 6.0 tells who changed a note afterwards.
func TestEditedNote(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/users/current.json" {
			fmt.Fprint(w, me)
			return
		}
		fmt.Fprint(w, `{"issue":{"id":1,"journals":[
			{"id":7,"user":{"id":2,"name":"Bob"},"notes":"a","created_on":"2026-01-01T10:00:00Z","updated_on":"2026-01-02T10:00:00Z","updated_by":{"id":3,"name":"Alice"}},
			{"id":8,"user":{"id":2,"name":"Bob"},"notes":"b","created_on":"2026-01-01T10:00:00Z","updated_on":"2026-01-01T10:00:00Z"}]}}`)
	}))
	defer server.Close()
	text, facts, failed := says(t, &redmine.Options{URL: server.URL, Key: "key-of-admin"}, "get_issue", `{"id":"1"}`)
	const edited = "2026-01-02T10:00:00Z by Alice"
	if failed || strings.Count(text, ", edited ") != 1 || !strings.Contains(text, "## Note 7 by Bob, 2026-01-01T10:00:00Z, edited "+edited) || strings.Count(facts, `"updated_by"`) != 1 || !strings.Contains(facts, `"updated_on":"2026-01-02T10:00:00Z","updated_by":{"id":3,"name":"Alice"}`) {
		t.Errorf("%s\n%s", text, facts)
	}
}

// TestToken: a token that is not taken is told from a Redmine that takes none.
func TestToken(t *testing.T) {
	for want, info := range map[string]int{"it is wrong or expired": http.StatusUnauthorized, "needs Redmine 6.1 or later": http.StatusNotFound} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/oauth/token/info":
				w.WriteHeader(info)
			case r.URL.Path == "/users/current.json" || r.Header.Get("Authorization") != "Bearer t0ken":
				w.WriteHeader(http.StatusUnauthorized)
			default:
				fmt.Fprint(w, `{"issue_statuses":[]}`)
			}
		}))
		if text, _, failed := says(t, &redmine.Options{URL: server.URL, Token: "t0ken"}, "list_issue_statuses", `{}`); !failed || !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
		server.Close()
	}
}

// TestUnsorted: Redmine ignores an order by a field that a project does not have.
func TestUnsorted(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/users/current.json":
			fmt.Fprint(w, `{"user":{"id":1,"login":"admin","admin":true}}`)
		case "/custom_fields.json":
			fmt.Fprint(w, `{"custom_fields":[{"id":3,"name":"Score","customized_type":"issue"},{"id":4,"name":"Rank","customized_type":"issue"}]}`)
		case "/issues.json":
			fmt.Fprint(w, `{"issues":[{"id":1,"custom_fields":[{"id":4,"name":"Rank","value":""}]},{"id":2}],"total_count":2,"offset":0,"limit":50}`)
		}
	}))
	defer server.Close()
	o := &redmine.Options{URL: server.URL, Key: "key-of-admin"}
	for _, c := range []struct {
		by   string
		told bool
	}{{"Score:desc", true}, {"Rank", false}, {"id", false}} {
		text, _, failed := says(t, o, "list_issues", `{"sort":"`+c.by+`"}`)
		if failed || strings.Contains(text, "did not sort by it") != c.told {
			t.Errorf("sorted by %s: %s", c.by, text)
		}
	}
}

// TestHalfAnswers: a Redmine that is busy is not taken for an old one, and a change
// whose answer cannot be read for one that was not made.
func TestHalfAnswers(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method + r.URL.Path {
		case "GET/users/current.json":
			fmt.Fprint(w, me)
		case "GET/projects/alpha.json":
			fmt.Fprint(w, `{"project":{"id":1,"name":"Alpha","identifier":"alpha"}}`)
		case "POST/issues.json":
			w.WriteHeader(http.StatusCreated)
		case "POST/projects/1/versions.json":
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{}`)
		default:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	o := &redmine.Options{URL: server.URL, Key: "key-of-admin"}
	for _, c := range []struct{ tool, arguments, want string }{
		{"list_issues", `{"filters":[{"field":"any_searchable","operator":"~","values":["a"]}]}`, "Redmine failed on its version with status 503"},
		{"create_issue", `{"project_id":"alpha","subject":"a"}`, "look before you make it again"},
		{"create_version", `{"project_id":"alpha","name":"1"}`, "look before you make it again"},
	} {
		if text, _, failed := says(t, o, c.tool, c.arguments); !failed || !strings.Contains(text, c.want) {
			t.Errorf("no %q in %s", c.want, text)
		}
	}
}

// TestNewcomer: who becomes a member while the members are kept is found.
func TestNewcomer(t *testing.T) {
	var newcomer string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/users/current.json":
			fmt.Fprint(w, `{"user":{"id":2,"login":"bob","memberships":[{"id":1,"project":{"id":1,"name":"Alpha"}}]}}`)
		case "/projects/1/memberships.json":
			fmt.Fprintf(w, `{"memberships":[{"id":1,"user":{"id":2,"name":"Bob"}}%s]}`, newcomer)
		case "/users/3.json":
			fmt.Fprint(w, `{"user":{"id":3,"firstname":"Carl","mail":"c@example.com"}}`)
		}
	}))
	defer server.Close()
	set := opened(t, &redmine.Options{URL: server.URL, Key: "key-of-bob"})
	if text, _, failed := ask(t, set, "show_user", `{"id":"Carl"}`); !failed || !strings.Contains(text, "There are: Bob [2]") {
		t.Errorf("before: %s", text)
	}
	newcomer = `,{"id":2,"user":{"id":3,"name":"Carl"}}`
	if text, _, failed := ask(t, set, "show_user", `{"id":"Carl"}`); failed || !strings.Contains(text, "# User 3: Carl") {
		t.Errorf("after: %s", text)
	}
}

// TestGrowingList: a list that grows while its pages are read is read again.
func TestGrowingList(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/users/current.json":
			fmt.Fprint(w, me)
		case r.URL.Query().Has("offset"):
			asked++
			total := 150 + min(asked-1, 1) // one comes after the first page
			from, _ := strconv.Atoi(r.URL.Query().Get("offset"))
			var issues []string
			for i := from; i < min(from+100, total); i++ {
				issues = append(issues, fmt.Sprintf(`{"id":%d}`, total-i))
			}
			fmt.Fprintf(w, `{"issues":[%s],"total_count":%d,"offset":%d,"limit":100}`, strings.Join(issues, ","), total, from)
		}
	}))
	defer server.Close()
	_, facts, failed := says(t, &redmine.Options{URL: server.URL, Key: "key-of-admin"}, "list_issues", `{"limit":1000}`)
	var list struct{ Issues []struct{ ID int } }
	if err := json.Unmarshal([]byte(facts), &list); err != nil || failed {
		t.Fatal(err, facts)
	}
	seen := map[int]bool{}
	for _, i := range list.Issues {
		seen[i.ID] = true
	}
	if len(list.Issues) != 151 || len(seen) != 151 || asked != 4 {
		t.Errorf("%d issues, %d of them different, in %d requests", len(list.Issues), len(seen), asked)
	}
}
