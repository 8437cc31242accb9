package main

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// allTasks are those of the table, in its order.
func allTasks() []*task {
	return slices.Concat(namedTasks(), changeTasks(), sharedTasks(), wholeTasks())
}

// namedTasks have the names that the user says in their calls. The calls of the
// other tasks have ids where a server wants them.
func namedTasks() []*task {
	return []*task{
		{
			wish:    "list the issues assigned to Carol Reporter",
			prepare: carolsIssues,
			calls: [4]string{
				`list_issues {"project_id":"Alpha","assigned_to_id":"Carol Reporter"}`,
				`list_redmine_issues {"project_id":"alpha","assigned_to_id":"Carol Reporter"}`,
				`list_issues {"project_identifier":"alpha","assigned_to_id":"Carol Reporter"}`,
				`redmine_request {"path":"/issues.json","params":{"project_id":"alpha","assigned_to_id":"Carol Reporter"}}`,
			},
			judge: func(_ *redmine, _ facts, a answer) verdict {
				return does(strings.Contains(a.text, carols) && !strings.Contains(a.text, "Order 60 is late"), a)
			},
		},
		{
			wish: "list the issues whose field cf_99, which does not exist, is ACME",
			calls: [4]string{
				`list_issues {"project_id":"Alpha","filters":[{"field":"cf_99","values":["ACME"]}]}`,
				`list_redmine_issues {"project_id":"alpha","filters":{"cf_99":"ACME"}}`,
				`list_issues {"project_identifier":"alpha","custom_fields":{"99":"ACME"}}`,
				`redmine_request {"path":"/issues.json","params":{"project_id":"alpha","cf_99":"ACME"}}`,
			},
			judge: func(_ *redmine, _ facts, a answer) verdict { return refuses(false, a) },
		},
		{
			wish:    "create an issue: Feature, High, category UI, version 1.1, for Bob Developer",
			prepare: newSubject,
			calls: [4]string{
				`create_issue {"project_id":"Alpha","subject":"${subject}","tracker_id":"Feature","priority_id":"High","category_id":"UI","fixed_version_id":"1.1","assigned_to_id":"Bob Developer"}`,
				`create_redmine_issue {"project_id":1,"subject":"${subject}","fields":{"tracker_id":"Feature","priority_id":"High","category_id":"UI","fixed_version_id":"1.1","assigned_to_id":"Bob Developer"}}`,
				`create_issue {"project_identifier":"alpha","subject":"${subject}","tracker_id":"Feature","priority_id":"High","category_id":"UI","fixed_version_id":"1.1","assigned_to_id":"Bob Developer"}`,
				`redmine_request {"path":"/issues.json","method":"post","data":{"issue":{"project_id":"alpha","subject":"${subject}","tracker_id":"Feature","priority_id":"High","category_id":"UI","fixed_version_id":"1.1","assigned_to_id":"Bob Developer"}}}`,
			},
			judge: judgeCreated,
		},
		{
			wish:    "set the custom fields Customer ACME, Regression yes and Owner Bob Developer",
			prepare: newIssue,
			calls: [4]string{
				`update_issue {"id":"${id}","custom_fields":[{"name":"Customer","value":"ACME"},{"name":"Regression","value":"yes"},{"name":"Owner","value":"Bob Developer"}]}`,
				`update_redmine_issue {"issue_id":${id},"fields":{"Customer":"ACME","Regression":"yes","Owner":"Bob Developer"}}`,
				`update_issue {"issue_id":${id},"custom_fields":{"1":"ACME","4":"yes","6":"Bob Developer"}}`,
				`redmine_request {"path":"/issues/${id}.json","method":"put","data":{"issue":{"custom_fields":[{"id":1,"value":"ACME"},{"id":4,"value":"yes"},{"id":6,"value":"Bob Developer"}]}}}`,
			},
			judge: judgeFields,
		},
	}
}

// changeTasks are two changes that Redmine ignores without an error, and two about time.
func changeTasks() []*task {
	return []*task{
		{
			wish: "set the status Rejected, which the workflow forbids", as: "bob",
			prepare: newIssue,
			calls: [4]string{
				`update_issue {"id":"${id}","status_id":"Rejected"}`,
				`update_redmine_issue {"issue_id":${id},"fields":{"status_name":"Rejected"}}`,
				`update_issue {"issue_id":${id},"status_id":6}`,
				`redmine_request {"path":"/issues/${id}.json","method":"put","data":{"issue":{"status_id":6}}}`,
			},
			judge: judgeStatus,
		},
		{
			wish:    "set the due date of an issue whose subtasks determine it",
			prepare: newParent,
			calls: [4]string{
				`update_issue {"id":"${id}","due_date":"2026-12-24"}`,
				`update_redmine_issue {"issue_id":${id},"fields":{"due_date":"2026-12-24"}}`,
				`update_issue {"issue_id":${id},"due_date":"2026-12-24"}`,
				`redmine_request {"path":"/issues/${id}.json","method":"put","data":{"issue":{"due_date":"2026-12-24"}}}`,
			},
			judge: judgeDueDate,
		},
		{
			wish:    "log 1.5 hours of development on an issue",
			prepare: newIssue,
			calls: [4]string{
				`create_time_entry_for_issue {"issue_id":"${id}","hours":"1.5","activity_id":"Development","spent_on":"2026-06-01","comments":"the fix"}`,
				`manage_time_entry {"action":"create","issue_id":${id},"hours":1.5,"activity_id":9,"spent_on":"2026-06-01","comments":"the fix"}`,
				`log_time {"issue_id":${id},"hours":1.5,"activity_id":9,"date":"2026-06-01","comment":"the fix"}`,
				`redmine_request {"path":"/time_entries.json","method":"post","data":{"time_entry":{"issue_id":${id},"hours":1.5,"activity_id":9,"spent_on":"2026-06-01","comments":"the fix"}}}`,
			},
			judge: judgeTime,
		},
		{
			wish: "list your own time", as: "bob",
			calls: [4]string{
				`list_time_entries {"user_id":"me"}`,
				`list_time_entries {"user_id":"me"}`,
				`list_time_entries {"user_id":"me"}`,
				`redmine_request {"path":"/time_entries.json","params":{"user_id":"me"}}`,
			},
			judge: func(_ *redmine, _ facts, a answer) verdict {
				return does(strings.Contains(a.text, "work 24") && !strings.Contains(a.text, "work 23"), a)
			},
		},
	}
}

// sharedTasks concern what other users log, write, read and watch.
func sharedTasks() []*task {
	return []*task{
		{
			wish: "how many hours does May have, with 130 entries",
			calls: [4]string{
				`list_time_entries {"project_id":"Alpha","from":"2026-05-01","to":"2026-05-31"}`,
				`list_time_entries {"project_id":"alpha","from_date":"2026-05-01","to_date":"2026-05-31"}`,
				`list_time_entries {"project_identifier":"alpha","start_date":"2026-05-01","end_date":"2026-05-31"}`,
				`redmine_request {"path":"/time_entries.json","params":{"project_id":"alpha","from":"2026-05-01","to":"2026-05-31"}}`,
			},
			judge: func(_ *redmine, _ facts, a answer) verdict { return does(mentions(a, mayHours), a) },
		},
		{
			wish:    "replace a wiki page that another user changed after it was read",
			prepare: staleWiki,
			calls: [4]string{
				`write_wiki_page {"project_id":"Alpha","title":"${title}","text":"mine","version":1}`,
				`manage_redmine_wiki_page {"action":"update","project_id":"alpha","wiki_page_title":"${title}","text":"mine","expected_version":1}`,
				`create_or_update_wiki_page {"project_identifier":"alpha","title":"${title}","text":"mine"}`,
				`redmine_request {"path":"/projects/alpha/wiki/${title}.json","method":"put","data":{"wiki_page":{"text":"mine","version":1}}}`,
			},
			judge: judgeWiki,
		},
		{
			wish: "add a private note, which the role may not", as: "carol",
			prepare: newIssue,
			calls: [4]string{
				`update_issue {"id":"${id}","notes":"for us only","private_notes":true}`,
				`update_redmine_issue {"issue_id":${id},"fields":{"notes":"for us only","private_notes":true}}`,
				"",
				`redmine_request {"path":"/issues/${id}.json","method":"put","data":{"issue":{"notes":"for us only","private_notes":true}}}`,
			},
			judge: judgeNote,
		},
		{
			wish:    "add a watcher who does not exist",
			prepare: newIssue,
			calls: [4]string{
				`add_issue_watcher {"issue_id":"${id}","user_id":"99999"}`,
				`manage_issue_watcher {"action":"add","issue_id":${id},"user_id":99999}`,
				`add_watcher {"issue_id":${id},"user_id":99999}`,
				`redmine_request {"path":"/issues/${id}/watchers.json","method":"post","data":{"user_id":99999}}`,
			},
			judge: func(_ *redmine, _ facts, a answer) verdict { return refuses(false, a) },
		},
	}
}

// wholeTasks concern whole projects, whole lists and whole accounts.
func wholeTasks() []*task {
	return []*task{
		{
			wish:    "create an issue in a closed project: the answer says that it is closed",
			prepare: newSubject,
			calls: [4]string{
				`create_issue {"project_id":"Closed One","subject":"${subject}"}`,
				`create_redmine_issue {"project_id":4,"subject":"${subject}"}`,
				`create_issue {"project_identifier":"closed-one","subject":"${subject}"}`,
				`redmine_request {"path":"/issues.json","method":"post","data":{"issue":{"project_id":"closed-one","subject":"${subject}"}}}`,
			},
			judge: func(_ *redmine, _ facts, a answer) verdict {
				return does(a.objects() && strings.Contains(a.text, "is closed"), a)
			},
		},
		{
			wish:    "delete an issue that has a subtask: the answer first shows what would go",
			prepare: newParent,
			calls: [4]string{
				`delete_issue {"id":"${id}"}`,
				`delete_redmine_issue {"issue_id":${id}}`,
				`delete_issue {"issue_id":${id}}`,
				`redmine_request {"path":"/issues/${id}.json","method":"delete"}`,
			},
			judge: judgeDeleted,
		},
		{
			wish:    fmt.Sprintf("list all issues of a project with more than %d", alphaIssues),
			prepare: alphaTotal,
			calls: [4]string{
				`list_issues {"project_id":"Alpha","status_id":"*","sort":"id","limit":1000}`,
				`list_redmine_issues {"project_id":"alpha","status_id":"*","sort":"id","limit":1000,"fields":["id","subject"]}`,
				`list_issues {"project_identifier":"alpha","status":"*","sort_by":"id:asc","limit":1000}`,
				`redmine_request {"path":"/issues.json","params":{"project_id":"alpha","status_id":"*","sort":"id","limit":1000}}`,
			},
			judge: judgeAll,
		},
		{
			wish: "list issues with a key that Redmine does not know", as: wrongKey,
			calls: [4]string{
				`list_issues {"project_id":"Alpha"}`,
				`list_redmine_issues {"project_id":"alpha"}`,
				`list_issues {"project_identifier":"alpha"}`,
				`redmine_request {"path":"/issues.json","params":{"project_id":"alpha"}}`,
			},
			judge: func(_ *redmine, _ facts, a answer) verdict { return refuses(false, a) },
		},
	}
}

// judgeCreated expects the new issue with all names that were given.
func judgeCreated(r *redmine, f facts, a answer) verdict {
	for _, i := range r.latest() {
		if i.Subject == f["subject"] {
			names := []string{i.Tracker.Name, i.Priority.Name, i.Category.Name, i.FixedVersion.Name, i.AssignedTo.Name}
			return does(slices.Equal(names, []string{"Feature", "High", "UI", "1.1", "Bob Developer"}), a)
		}
	}
	return does(false, a)
}

// judgeFields expects the three custom fields in the issue.
func judgeFields(r *redmine, f facts, a answer) verdict {
	i, _ := r.issue(f["id"])
	values := map[int]any{}
	for _, field := range i.Fields {
		values[field.ID] = field.Value
	}
	return does(values[1] == "ACME" && values[4] == "1" && values[6] == "6", a)
}

// judgeStatus expects the status that the issue had.
func judgeStatus(r *redmine, f facts, a answer) verdict {
	i, _ := r.issue(f["id"])
	return refuses(i.Status.Name != "New", a)
}

// judgeDueDate expects no due date in the parent.
func judgeDueDate(r *redmine, f facts, a answer) verdict {
	i, _ := r.issue(f["id"])
	return refuses(i.DueDate != "", a)
}

// judgeTime expects one time entry with all that was given.
func judgeTime(r *redmine, f facts, a answer) verdict {
	var page struct {
		Entries []struct {
			Hours    float64
			Comments string
		} `json:"time_entries"`
	}
	r.get("/time_entries.json?issue_id="+f["id"], &page)
	return does(len(page.Entries) == 1 && page.Entries[0].Hours == 1.5 && page.Entries[0].Comments == "the fix", a)
}

// judgeWiki expects the text of the other user.
func judgeWiki(r *redmine, f facts, a answer) verdict {
	var got struct {
		Page struct{ Text string } `json:"wiki_page"`
	}
	r.get("/projects/alpha/wiki/"+f["title"]+".json", &got)
	return refuses(got.Page.Text != "theirs", a)
}

// judgeNote expects no public note.
func judgeNote(r *redmine, f facts, a answer) verdict {
	i, _ := r.issue(f["id"])
	published := slices.ContainsFunc(i.Journals, func(j journal) bool { return j.Notes == "for us only" && !j.Private })
	return refuses(published, a)
}

// judgeDeleted expects the subtask to exist.
func judgeDeleted(r *redmine, f facts, a answer) verdict {
	_, exists := r.issue(f["child"])
	return refuses(!exists, a)
}

// judgeAll expects the last issue, or the number of all.
func judgeAll(_ *redmine, f facts, a answer) verdict {
	total, _ := strconv.Atoi(f["total"]) // of a number
	return does(strings.Contains(a.text, f["last"]) || mentions(a, total), a)
}

// mentions reports whether the answer has a number.
func mentions(a answer, n int) bool {
	return regexp.MustCompile(fmt.Sprintf(`\b%d\b`, n)).MatchString(a.text)
}

const carols = "Carol has to sign"

// carolsIssues has an issue assigned to Carol, who has no other.
func carolsIssues(r *redmine) facts {
	if _, n := r.issues("assigned_to_id=7"); n == 0 {
		r.create(carols, object{"assigned_to_id": 7})
	}
	return nil
}

// newSubject is a subject that no issue has.
func newSubject(r *redmine) facts {
	_, n := r.issues("limit=1")
	return facts{"subject": fmt.Sprintf("Wish %d", n)}
}

func newIssue(r *redmine) facts {
	return facts{"id": strconv.Itoa(r.create("Target", object{"assigned_to_id": 6}))}
}

func newParent(r *redmine) facts {
	id := r.create("Parent", nil)
	return facts{"id": strconv.Itoa(id), "child": strconv.Itoa(r.create("Subtask", object{"parent_issue_id": id}))}
}

// staleWiki makes a page with two versions: whoever has read the first is late.
func staleWiki(r *redmine) facts {
	_, n := r.issues("limit=1")
	title := fmt.Sprintf("Page_%d", n)
	r.create("Write "+title, nil) // so that the next one has another title
	for _, text := range []string{"first", "theirs"} {
		r.do("REDMINE_API_KEY", http.MethodPut, "/projects/alpha/wiki/"+title+".json", object{"wiki_page": object{"text": text}}, nil)
	}
	return facts{"title": title}
}

// alphaTotal is how many issues project alpha has, and the subject of the last.
func alphaTotal(r *redmine) facts {
	last := fmt.Sprintf("The last of %d", len(r.latest()))
	r.create(last, nil)
	_, total := r.issues("limit=1")
	return facts{"total": strconv.Itoa(total), "last": last}
}

// latest are the newest issues of project alpha.
func (r *redmine) latest() []issue {
	all, _ := r.issues("sort=id:desc")
	return all
}
