package redmine

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost"
)

// anySearchable is known since Redmine 5.1.
const anySearchable = "any_searchable"

// issueFilters are those of issues in Redmine 5.0, and [anySearchable].
func issueFilters() map[string]filterSpec {
	return map[string]filterSpec{
		"status_id":              {kindStatus, bySource(statuses)},
		"tracker_id":             {kindList, bySource(trackers)},
		"priority_id":            {kindList, bySource(priorities)},
		"author_id":              {kindList, each(filterPerson)},
		"assigned_to_id":         {kindOptional, each(filterPerson)},
		"member_of_group":        {kindOptional, each(filterGroup)},
		"assigned_to_role":       {kindOptional, bySource(roles)},
		"watcher_id":             {kindList, each(filterWatcher)},
		"updated_by":             {kindList, each(filterPerson)},
		"last_updated_by":        {kindList, each(filterPerson)},
		"category_id":            {kindOptional, each(filterCategory)},
		"fixed_version_id":       {kindOptional, each(filterVersion)},
		"fixed_version.due_date": {kindDate, dates},
		"fixed_version.status":   {kindList, fixedValues("open", "open", "locked", "locked", "closed", "closed")},
		"project.status":         {kindList, fixedValues("active", "1", "closed", "5")},
		"is_private":             {kindList, fixedValues("yes", "1", "no", "0", "true", "1", "false", "0")},
		"subproject_id":          {kindSubprojects, nil},
		"subject":                {kindText, texts},
		"description":            {kindText, texts},
		"notes":                  {kindText, texts},
		"attachment":             {kindText, texts},
		"attachment_description": {kindText, texts},
		anySearchable:            {kindSearch, texts},
		"created_on":             {kindPast, datesOrTimes},
		"updated_on":             {kindPast, datesOrTimes},
		"closed_on":              {kindPast, datesOrTimes},
		"start_date":             {kindDate, dates},
		"due_date":               {kindDate, dates},
		"estimated_hours":        {kindNumber, hoursOf},
		"spent_time":             {kindNumber, hoursOf},
		"done_ratio":             {kindNumber, integers},
		"issue_id":               {kindNumber, issueIDs},
		"parent_id":              {kindTree, issueIDs},
		"child_id":               {kindTree, issueIDs},
		"relates":                {kindRelation, relatedIssue},
		"duplicates":             {kindRelation, relatedIssue},
		"duplicated":             {kindRelation, relatedIssue},
		"blocks":                 {kindRelation, relatedIssue},
		"blocked":                {kindRelation, relatedIssue},
		"precedes":               {kindRelation, relatedIssue},
		"follows":                {kindRelation, relatedIssue},
		"copied_to":              {kindRelation, relatedIssue},
		"copied_from":            {kindRelation, relatedIssue},
	}
}

// subproject narrows the project. Without one Redmine ignores it.
func subproject(q *listQuery, text string) {
	switch {
	case text == "" || q.err != nil:
	case q.list.project == 0:
		q.fail(toolpost.Retry.Errorf("Give the project too: a subproject is looked for inside it."))
	case text == "*" || text == "!*":
		q.addText("subproject_id", text, "")
	default:
		top := q.list.project
		q.project(text) // what it has is what is asked for
		below, err := subprojects(q.ctx, q.s, top)
		q.fail(err)
		if id := q.list.project; id != top && !slices.ContainsFunc(below, func(n idName) bool { return n.ID == id }) {
			q.fail(toolpost.Retry.Errorf("Project %s is not a subproject of the given project, which has: %s.", text, cmp.Or(listNames(below), "none")))
		}
	}
}

// refuseBesideQuery refuses conditions beside a saved query: Redmine would ignore them.
func refuseBesideQuery(q *listQuery) {
	for _, c := range q.conditions {
		q.fail(toolpost.Retry.Errorf("Redmine ignores %s when a saved query is given; give only one of them.", c.name))
	}
}

// filterPerson finds the id of a person or group.
func filterPerson(q *listQuery, text string) (string, error) {
	me, err := q.s.account(q.ctx)
	if err != nil {
		return "", err
	}
	if me.matches(text) && me.ID > 0 {
		return "me", nil // with the own groups where those count
	}
	if n, ok := number(text); ok {
		return strconv.Itoa(n), checkPersonID(q, me, n)
	}
	n, err := q.s.person(q.ctx, q.list.project, text)
	if err != nil && q.list.project > 0 {
		if elsewhere, err := q.s.person(q.ctx, 0, text); err == nil {
			q.noteMatch(text, elsewhere)
			return strconv.Itoa(elsewhere.ID), nil
		}
	}
	q.noteMatch(text, n)
	return strconv.Itoa(n.ID), err
}

// checkPersonID checks that an id is of a person: otherwise the list would be empty
// without a reason.
func checkPersonID(q *listQuery, me *user, n int) error {
	all, err := people(q.ctx, q.s, q.list.project)
	if err != nil || slices.ContainsFunc(all, func(p idName) bool { return p.ID == n }) {
		return err
	}
	err = q.s.client.get(q.ctx, fmt.Sprintf("/users/%d.json", n), nil, &struct{}{})
	if status(err) == http.StatusNotFound && me.Admin {
		err = q.s.client.get(q.ctx, fmt.Sprintf("/groups/%d.json", n), nil, &struct{}{})
	} else if status(err) == http.StatusNotFound {
		q.remark("This account can see no person with the id %d.", n)
		return nil
	}
	return explain(err, fmt.Sprintf("the person %d", n))
}

// filterWatcher finds a person. Redmine counts others than oneself only where this
// account may see who watches.
func filterWatcher(q *listQuery, text string) (string, error) {
	me, err := q.s.account(q.ctx)
	if err != nil {
		return "", err
	}
	id, err := filterPerson(q, text)
	if id != "me" && id != strconv.Itoa(me.ID) && !me.Admin {
		q.told = append(q.told, "Redmine shows other watchers only in projects where this account may see them, so there may be more issues.")
	}
	return id, err
}

// filterGroup finds a group.
func filterGroup(q *listQuery, text string) (string, error) {
	all, err := visibleGroups(q)
	if err != nil {
		return "", err
	}
	n, err := matchName("group", text, all)
	q.noteMatch(text, n)
	return strconv.Itoa(n.ID), err
}

// visibleGroups returns all groups for administrators, and those in the own
// projects and the project asked for otherwise.
func visibleGroups(q *listQuery) ([]idName, error) {
	me, err := q.s.account(q.ctx)
	switch {
	case err != nil:
		return nil, err
	case me.Admin:
		return q.s.names(q.ctx, userGroups(), true)
	case q.list.project == 0:
		return q.s.colleagues(q.ctx, true)
	}
	members, err := membersOf(q.ctx, q.s, q.list.project)
	var all []idName
	for _, m := range members {
		if m.Group != nil {
			all = append(all, *m.Group)
		}
	}
	return all, explain(err, "the members of the project")
}

func filterCategory(q *listQuery, text string) (string, error) {
	if q.list.project == 0 {
		return "", toolpost.Retry.Errorf("Give the project too: every category belongs to a project.")
	}
	n, err := q.s.find(q.ctx, categories(q.list.project), text)
	q.noteMatch(text, n)
	return strconv.Itoa(n.ID), err
}

func filterVersion(q *listQuery, text string) (string, error) {
	n, err := ofVersion(q.ctx, q.s, q.list.project, text)
	q.noteMatch(text, n)
	return strconv.Itoa(n.ID), err
}

// issueIDs are ids of issues, several in one text for "=".
func issueIDs(q *listQuery, operator string, values []string) ([]string, error) {
	var ids []int
	var texts []string
	for _, part := range strings.FieldsFunc(strings.Join(values, ","), func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := id("an issue", part)
		if err != nil {
			return nil, err
		}
		ids, texts = append(ids, n), append(texts, strconv.Itoa(n))
	}
	switch {
	case len(ids) == 0:
		return nil, toolpost.Retry.Errorf("%q contains no issue id; give numbers such as 12,13.", strings.Join(values, " "))
	case operator == "=":
		return []string{strings.Join(texts, ",")}, requireIssues(q, ids)
	case len(ids) != len(values):
		return nil, toolpost.Retry.Errorf("%q with %s names %d issues; give one for each value.", strings.Join(values, " "), operator, len(ids))
	case operator == "~":
		return texts, requireIssues(q, ids)
	}
	return inOrder(operator, texts)
}

// requireIssues checks that there are issues: without them there would be no rows.
func requireIssues(q *listQuery, ids []int) error {
	subjects, err := subjectsOf(q.ctx, q.s, slices.Clone(ids))
	for _, n := range ids {
		if _, ok := subjects[n]; !ok && err == nil {
			err = toolpost.Retry.Errorf("There is no issue %d, or this account may not see it. List or search to find the right one.", n)
		}
	}
	return err
}

// relatedIssue is the issue that others relate to, or the project of such.
func relatedIssue(q *listQuery, operator string, values []string) ([]string, error) {
	if strings.HasSuffix(operator, "p") {
		n, err := q.s.project(q.ctx, values[0])
		return []string{strconv.Itoa(n.ID)}, err
	}
	n, err := id("an issue", values[0])
	if err == nil {
		err = requireIssues(q, []int{n})
	}
	return []string{strconv.Itoa(n)}, err
}
