package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
)

// A redmine is the real Redmine, as its REST API shows it to the administrator.
// After the first error it does nothing more.
type redmine struct {
	url string
	err error
}

// do sends a request as the account with a key, and decodes the answer into out
// unless that is nil. It returns the status.
func (r *redmine) do(key, method, path string, body, out any) int {
	if r.err != nil {
		return 0
	}
	var in bytes.Buffer
	if body != nil {
		if r.err = json.NewEncoder(&in).Encode(body); r.err != nil {
			return 0
		}
	}
	req, err := http.NewRequest(method, r.url+path, &in)
	if err != nil {
		r.err = err
		return 0
	}
	req.Header.Set("X-Redmine-API-Key", os.Getenv(key))
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		r.err = err
		return 0
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		r.err = err
	case resp.StatusCode == http.StatusNotFound && method == http.MethodGet:
	case resp.StatusCode >= 300:
		r.err = fmt.Errorf("%s %s: %s %s", method, path, resp.Status, data)
	case out != nil:
		r.err = json.Unmarshal(data, out)
	}
	return resp.StatusCode
}

func (r *redmine) get(path string, out any) int {
	return r.do("REDMINE_API_KEY", http.MethodGet, path, nil, out)
}

type object = map[string]any

// An issue is the part of one that the tasks look at.
type issue struct {
	ID           int
	Subject      string
	Tracker      named
	Status       named
	Priority     named
	Category     named
	FixedVersion named  `json:"fixed_version"`
	AssignedTo   named  `json:"assigned_to"`
	DueDate      string `json:"due_date"`
	Fields       []struct {
		ID    int
		Value any
	} `json:"custom_fields"`
	Journals []journal
}

type journal struct {
	Notes   string
	Private bool `json:"private_notes"`
}

type named struct {
	ID   int
	Name string
}

// create creates an issue in project alpha, and returns its id.
func (r *redmine) create(subject string, more object) int {
	fields := object{"project_id": 1, "subject": subject}
	for name, value := range more {
		fields[name] = value
	}
	var made struct{ Issue issue }
	r.do("REDMINE_API_KEY", http.MethodPost, "/issues.json", object{"issue": fields}, &made)
	return made.Issue.ID
}

// issue reads an issue with its journals; exists reports whether there is one.
func (r *redmine) issue(id string) (i issue, exists bool) {
	var got struct{ Issue issue }
	status := r.get("/issues/"+id+".json?include=journals", &got)
	return got.Issue, status == http.StatusOK
}

// issues reads the first 100 issues of project alpha that suit a query, and how
// many there are.
func (r *redmine) issues(query string) ([]issue, int) {
	var page struct {
		Issues []issue
		Total  int `json:"total_count"`
	}
	r.get("/issues.json?project_id=alpha&status_id=*&limit=100&"+query, &page)
	return page.Issues, page.Total
}

// May has as many hours as entries, and project alpha as many issues.
const (
	mayHours    = 130
	alphaIssues = 220
)

// fill adds to the seeded Redmine what the tasks need. A second run finds it.
func (r *redmine) fill() {
	_, total := r.issues("")
	for i := total; i < alphaIssues; i++ { // one by one: SQLite has one writer
		r.create(fmt.Sprintf("Order %d is late", i), object{
			"description": "The customer says that the order has not come.\n\n* steps to see it\n* what was expected", "assigned_to_id": 5 + i%2,
		})
	}
	// Its description of 79 KB would be more than all others.
	r.do("REDMINE_API_KEY", http.MethodPut, "/issues/12.json", object{"issue": object{"description": "short"}}, nil)
	var entries struct {
		Total int `json:"total_count"`
	}
	r.get("/time_entries.json?project_id=alpha&from=2026-05-01&to=2026-05-31&limit=1", &entries)
	for i := entries.Total; i < mayHours; i++ {
		r.do("REDMINE_API_KEY_ALICE", http.MethodPost, "/time_entries.json", object{"time_entry": object{
			"project_id": 1, "hours": 1, "spent_on": fmt.Sprintf("2026-05-%02d", 1+i%31), "activity_id": 9, "comments": "May",
		}}, nil)
	}
}
