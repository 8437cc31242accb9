//go:build linux

package live

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/redmine"
)

// An api is a Redmine as its REST API shows it.
type api struct{ address, key string }

func (a api) do(method, path string, body any) ([]byte, error) {
	var in bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&in).Encode(body); err != nil {
			return nil, err
		}
	}
	r, err := http.NewRequest(method, a.address+path, &in)
	if err != nil {
		return nil, err
	}
	r.Header.Set("X-Redmine-API-Key", a.key)
	r.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s %s", method, path, resp.Status, data)
	}
	return data, err
}

// issues reads a page of the list of issues of project alpha.
func (a api) issues(offset, limit int) (all []map[string]any, total int, err error) {
	data, err := a.do("GET", fmt.Sprintf("/issues.json?project_id=alpha&status_id=*&offset=%d&limit=%d", offset, limit), nil)
	var page struct {
		Issues []map[string]any `json:"issues"`
		Total  int              `json:"total_count"`
	}
	if err == nil {
		err = json.Unmarshal(data, &page)
	}
	return page.Issues, page.Total, err
}

// fill creates issues until project alpha has n.
func (a api) fill(t testing.TB, n int) {
	t.Helper()
	_, total, err := a.issues(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := total; i < n; i++ { // one by one: SQLite has one writer
		issue := map[string]any{"project_id": 1, "subject": fmt.Sprintf("Order %d is late", i), "assigned_to_id": 5 + i%2,
			"description": "The customer says that the order has not come.\n\n* steps to see it\n* what was expected"}
		if _, err := a.do("POST", "/issues.json", map[string]any{"issue": issue}); err != nil {
			t.Fatal(err)
		}
	}
}

func (a api) tools(t testing.TB) *toolpost.Set {
	t.Helper()
	s, err := redmine.New(&redmine.Options{URL: a.address, Key: a.key})
	if err != nil {
		t.Fatal(err)
	}
	set, err := toolpost.NewSet(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// likeOrigin writes issues as the server did from which the requirements come:
// as XML with all texts, and names without ids.
func likeOrigin(all []map[string]any) string {
	var b bytes.Buffer
	b.WriteString(`<?xml version="1.0" encoding="UTF-8"?>` + "\n<issues type=\"array\">\n")
	for _, issue := range all {
		b.WriteString("  <issue>\n")
		for _, name := range []string{
			"id", "subject", "project", "tracker", "status", "priority", "author", "assigned_to", "category", "fixed_version", "parent",
			"description", "start_date", "due_date", "done_ratio", "estimated_hours", "custom_fields", "created_on", "updated_on",
		} {
			value := issue[name]
			if of, ok := value.(map[string]any); ok {
				value = of["name"]
			}
			if fields, ok := value.([]any); ok {
				for _, f := range fields {
					field, _ := f.(map[string]any)
					fmt.Fprintf(&b, "    <custom_field id=\"%v\" name=\"%v\">%v</custom_field>\n", field["id"], field["name"], field["value"])
				}
				continue
			}
			if value != nil && value != "" {
				fmt.Fprintf(&b, "    <%s>", name)
				_ = xml.EscapeText(&b, fmt.Append(nil, value)) // a buffer takes all
				fmt.Fprintf(&b, "</%s>\n", name)
			}
		}
		b.WriteString("  </issue>\n")
	}
	b.WriteString("</issues>\n")
	return b.String()
}

// redmineCost compares what a list of 100 issues costs a model.
func redmineCost(t *testing.T, a api) {
	a.fill(t, 100)
	all, _, err := a.issues(0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, issue := range all {
		if text, _ := issue["description"].(string); len(text) > 10_000 {
			issue["description"] = "" // one would be more than all others
		}
	}
	origin := likeOrigin(all)
	r, err := a.tools(t).Call(t.Context(), &toolpost.Call{Name: "list_issues", Arguments: json.RawMessage(`{"project_id":"alpha","status_id":"*","limit":100}`)})
	if err != nil {
		t.Fatal(err)
	}
	text, _ := r.FirstText()
	tokens := func(s string) int { return (len(s) + 3) / 4 } // as dialect.Tokens counts
	t.Logf("tokens of 100 issues: ours %d as text and %d as JSON, the origin's %d", tokens(text), tokens(string(r.Structured())), tokens(origin))
	if 5*tokens(text) > tokens(origin) {
		t.Errorf("the text has more than a fifth of the origin's tokens")
	}
}

// BenchmarkRedmineList lists 1,000 issues with the tool and with the bare API, in
// turns: make live's Redmine is started and filled, which takes minutes.
func BenchmarkRedmineList(b *testing.B) {
	server := startRedmine(b, "up.sh", b.TempDir())
	a := api{server["REDMINE_URL"], server["REDMINE_API_KEY"]}
	a.fill(b, 1000)
	set := a.tools(b)
	var ours, bare time.Duration
	for b.Loop() {
		begin := time.Now()
		for offset := 0; offset < 1000; offset += 100 {
			if _, _, err := a.issues(offset, 100); err != nil {
				b.Fatal(err)
			}
		}
		bare += time.Since(begin)
		begin = time.Now()
		if _, err := set.Call(b.Context(), &toolpost.Call{Name: "list_issues", Arguments: json.RawMessage(`{"project_id":"alpha","status_id":"*","limit":1000}`)}); err != nil {
			b.Fatal(err)
		}
		ours += time.Since(begin)
	}
	b.ReportMetric(ours.Seconds()/bare.Seconds(), "ours/API")
}
