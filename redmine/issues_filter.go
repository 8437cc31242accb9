package redmine

import (
	"cmp"
	"fmt"
	"net/url"
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
		"status_id":              {kindStatus, sourced(statuses)},
		"tracker_id":             {kindList, sourced(trackers)},
		"priority_id":            {kindList, sourced(priorities)},
		"author_id":              {kindList, each(filterPerson)},
		"assigned_to_id":         {kindOptional, each(filterPerson)},
		"member_of_group":        {kindOptional, each(filterGroup)},
		"assigned_to_role":       {kindOptional, sourced(roles)},
		"watcher_id":             {kindList, each(filterWatcher)},
		"updated_by":             {kindList, each(filterPerson)},
		"last_updated_by":        {kindList, each(filterPerson)},
		"category_id":            {kindOptional, each(aCategory)},
		"fixed_version_id":       {kindOptional, each(aVersion)},
		"fixed_version.due_date": {kindDate, days},
		"fixed_version.status":   {kindList, words("open", "open", "locked", "locked", "closed", "closed")},
		"project.status":         {kindList, words("active", "1", "closed", "5")},
		"is_private":             {kindList, words("yes", "1", "no", "0", "true", "1", "false", "0")},
		"subproject_id":          {kindSubprojects, nil},
		"subject":                {kindText, texts},
		"description":            {kindText, texts},
		"notes":                  {kindText, texts},
		"attachment":             {kindText, texts},
		"attachment_description": {kindText, texts},
		anySearchable:            {kindSearch, texts},
		"created_on":             {kindPast, moments},
		"updated_on":             {kindPast, moments},
		"closed_on":              {kindPast, moments},
		"start_date":             {kindDate, days},
		"due_date":               {kindDate, days},
		"estimated_hours":        {kindNumber, times},
		"spent_time":             {kindNumber, times},
		"done_ratio":             {kindNumber, wholes},
		"issue_id":               {kindNumber, theIssues},
		"parent_id":              {kindTree, theIssues},
		"child_id":               {kindTree, theIssues},
		"relates":                {kindRelation, other},
		"duplicates":             {kindRelation, other},
		"duplicated":             {kindRelation, other},
		"blocks":                 {kindRelation, other},
		"blocked":                {kindRelation, other},
		"precedes":               {kindRelation, other},
		"follows":                {kindRelation, other},
		"copied_to":              {kindRelation, other},
		"copied_from":            {kindRelation, other},
	}
}

// subproject narrows the project. Without one Redmine ignores it.
func subproject(q *listQuery, text string) {
	switch {
	case text == "" || q.err != nil:
	case q.list.project == 0:
		q.fail(toolpost.Retry("Give the project too: a subproject is looked for inside it."))
	case text == "*" || text == "!*":
		q.written("subproject_id", text, "")
	default:
		top := q.list.project
		q.project(text) // what it has is what is asked for
		below, err := subprojects(q.ctx, q.s, top)
		q.fail(err)
		if id := q.list.project; id != top && !slices.ContainsFunc(below, func(n named) bool { return n.ID == id }) {
			q.fail(toolpost.Retry("Project %s is not a subproject of the given project, which has: %s.", text, cmp.Or(listed(below), "none")))
		}
	}
}

// unaccompanied refuses conditions beside a saved query: Redmine would ignore them.
func unaccompanied(q *listQuery) {
	for _, c := range q.conditions {
		q.fail(toolpost.Retry("Redmine ignores %s when a saved query is given; give only one of them.", c.name))
	}
}

// filterPerson finds the id of a person or group.
func filterPerson(q *listQuery, text string) (string, error) {
	me, err := q.s.account(q.ctx)
	if err != nil {
		return "", err
	}
	if me.is(text) && me.ID > 0 {
		return "me", nil // with the own groups where those count
	}
	if n, ok := number(text); ok {
		return strconv.Itoa(n), checkPersonID(q, me, n)
	}
	n, err := q.s.person(q.ctx, q.list.project, text)
	if err != nil && q.list.project > 0 {
		if elsewhere, err := q.s.person(q.ctx, 0, text); err == nil {
			q.meant(text, elsewhere)
			return strconv.Itoa(elsewhere.ID), nil
		}
	}
	q.meant(text, n)
	return strconv.Itoa(n.ID), err
}

// checkPersonID checks that an id is of a person: otherwise the list would be empty
// without a reason.
func checkPersonID(q *listQuery, me *account, n int) error {
	all, err := people(q.ctx, q.s, q.list.project)
	if err != nil || slices.ContainsFunc(all, func(p named) bool { return p.ID == n }) {
		return err
	}
	err = q.s.client.get(q.ctx, fmt.Sprintf("/users/%d.json", n), nil, &struct{}{})
	if status(err) == 404 && me.Admin {
		err = q.s.client.get(q.ctx, fmt.Sprintf("/groups/%d.json", n), nil, &struct{}{})
	} else if status(err) == 404 {
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
	all, err := groupsKnown(q)
	if err != nil {
		return "", err
	}
	n, err := pick("group", text, all)
	q.meant(text, n)
	return strconv.Itoa(n.ID), err
}

// groupsKnown are all groups for administrators, and those in the own projects and
// the project asked for otherwise.
func groupsKnown(q *listQuery) ([]named, error) {
	me, err := q.s.account(q.ctx)
	switch {
	case err != nil:
		return nil, err
	case me.Admin:
		return q.s.names(q.ctx, userGroups(), true)
	case q.list.project == 0:
		return q.s.colleagues(q.ctx, true)
	}
	path := fmt.Sprintf("/projects/%d/memberships.json", q.list.project)
	members, _, err := rows[member](q.ctx, q.s, path, url.Values{}, "memberships", 0, mostNames)
	var all []named
	for _, m := range members {
		if m.Group != nil {
			all = append(all, *m.Group)
		}
	}
	return all, explain(err, "the members of the project")
}

func aCategory(q *listQuery, text string) (string, error) {
	if q.list.project == 0 {
		return "", toolpost.Retry("Give the project too: every category belongs to a project.")
	}
	n, err := q.s.find(q.ctx, categories(q.list.project), text)
	q.meant(text, n)
	return strconv.Itoa(n.ID), err
}

func aVersion(q *listQuery, text string) (string, error) {
	n, err := ofVersion(q.ctx, q.s, q.list.project, text)
	q.meant(text, n)
	return strconv.Itoa(n.ID), err
}

// theIssues are ids of issues, several in one text for "=".
func theIssues(q *listQuery, operator string, values []string) ([]string, error) {
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
		return nil, toolpost.Retry("%q contains no issue id; give numbers such as 12,13.", strings.Join(values, " "))
	case operator == "=":
		return []string{strings.Join(texts, ",")}, there(q, ids)
	case len(ids) != len(values):
		return nil, toolpost.Retry("%q with %s names %d issues; give one for each value.", strings.Join(values, " "), operator, len(ids))
	case operator == "~":
		return texts, there(q, ids)
	}
	return inOrder(operator, texts)
}

// there checks that there are issues: without them there would be no rows.
func there(q *listQuery, ids []int) error {
	subjects, err := subjectsOf(q.ctx, q.s, slices.Clone(ids))
	for _, n := range ids {
		if _, ok := subjects[n]; !ok && err == nil {
			err = toolpost.Retry("There is no issue %d, or this account may not see it. List or search to find the right one.", n)
		}
	}
	return err
}

// other is the issue that others relate to, or the project of such.
func other(q *listQuery, operator string, values []string) ([]string, error) {
	if strings.HasSuffix(operator, "p") {
		n, err := q.s.project(q.ctx, values[0])
		return []string{strconv.Itoa(n.ID)}, err
	}
	n, err := id("an issue", values[0])
	if err == nil {
		err = there(q, []int{n})
	}
	return []string{strconv.Itoa(n)}, err
}
