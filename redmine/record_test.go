package redmine

import (
	"encoding/json"
	"testing"
)

// TestLineOf: the tags of a record say how it stands in a list, for people and programs.
func TestLineOf(t *testing.T) {
	delay, closed := 5, active(false)
	for _, tt := range []struct {
		name       string
		record     any
		line, json string // json of the brief, if the record has one
	}{
		{"an issue with everything", &issue{
			ID: 1, Subject: "S", Tracker: idName{ID: 1, Name: "Bug"}, Status: issueStatus{idName: idName{ID: 1, Name: "New"}}, Priority: idName{ID: 2, Name: "Low"},
			Project: idName{ID: 3, Name: "P"}, AssignedTo: &idName{ID: 4, Name: "Ann"}, FixedVersion: &idName{ID: 5, Name: "1.0"}, Parent: &issueRef{6},
			DueDate: "2026-01-31", DoneRatio: 50, IsPrivate: true, UpdatedOn: "2026-01-30T10:00:00Z", CustomFields: customFields{{ID: 1, Name: "F", Value: []byte(`"v"`)}},
		}, "#1 Bug: S | New | Low | P | Ann | version 1.0 | parent #6 | due 2026-01-31 | 50% | private",
			`{"id":1,"subject":"S","tracker":"Bug","status":"New","priority":"Low","project":"P","assignee":"Ann","version":"1.0","parent":6,"due":"2026-01-31","done":50,"private":true,"fields":{"F":"v"},"updated":"2026-01-30"}`},
		{"an issue with nothing", &issue{ID: 1, CustomFields: customFields{{ID: 1, Name: "F"}}}, "#1 : ", `{"id":1}`},
		{"an issue and its subject", &timeEntry{ID: 1, SpentOn: "2026-01-31", Hours: 1.5, Issue: &issueRef{7}, Subject: "S"}, "[1] 2026-01-31 | 1.5 h, 1:30 | #7 S", `{"id":1,"spent_on":"2026-01-31","hours":1.5,"issue_id":7,"subject":"S"}`},
		{"a text that begins with a space", &projectFile{attachment: attachment{ID: 1, Name: "a", Size: 2, Description: " d"}}, "a [1] | 2 bytes |  d | 0 downloads", ""},
		{"nothing in it", &projectFile{attachment: attachment{ID: 1, Name: "a"}}, "a [1] | 0 bytes | 0 downloads", ""},
		{"no hours, and an issue without a number", &timeEntry{ID: 1, SpentOn: "2026-01-31", Issue: &issueRef{}, User: idName{ID: 7}}, "[1] 2026-01-31 | 0 h, 0:00", `{"id":1,"spent_on":"2026-01-31","hours":0}`},
		{"a field for all roles", &field{ID: 1, Name: "F", Kind: "issue", Roles: []idName{}, Choices: choices{}}, "F [1] | issue", ""},
		{"what is usual", &project{ID: 1, Name: "A", Identifier: "a", Status: activeProject, IsPublic: true}, "A [1] | key a", ""},
		{"what is not", &project{ID: 1, Name: "A", Identifier: "a", Status: closedProject, Trackers: []idName{{ID: 1, Name: "Bug"}}}, "A [1] | key a | closed | private\n  trackers: Bug [1]", ""},
		{"a version of all", &version{ID: 1, Name: "1", Status: "open", Sharing: "system"}, "1 [1] | open | shared: system", ""},
		{"a version of its project", &version{ID: 1, Name: "1", Status: "open", Sharing: "none"}, "1 [1] | open", ""},
		{"a value that is off", &value{idName: idName{ID: 1, Name: "Design"}, Active: &closed}, "Design [1] | not active", ""},
		{"a relation", &relation{ID: 1, From: 2, To: 3, Type: "precedes", Delay: &delay}, "[1] #2 precedes #3, 5 days between", ""},
	} {
		if got := lineOf(tt.record); got != tt.line {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.line)
		}
		if tt.json == "" {
			continue
		}
		if got, err := json.Marshal(brief{tt.record}); err != nil || string(got) != tt.json {
			t.Errorf("%s: %s (%v), want %s", tt.name, got, err, tt.json)
		}
	}
}

// TestFillers: a misspelled filler is found when the tools are made.
func TestFillers(t *testing.T) {
	if err := checkFillers(&struct {
		A string `json:"a" fill:"plain"`
		B string `json:"b" fill:"txet"`
	}{}); err == nil {
		t.Error("an unknown filler is taken")
	}
}
