package redmine

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolpost/toolpost"
)

// A write is a change of something: what is asked for, in Redmine's words. The
// first failure stays.
type write struct {
	s       *Server
	ctx     context.Context
	project int
	set     map[string]any
	fields  []wireField
	err     error
}

func (w *write) put(name string, value any, err error) {
	if w.err == nil {
		w.err = err
	}
	if err == nil {
		w.set[name] = value
	}
}

func (w *write) text(name, text string) {
	switch {
	case text == "":
	case strings.EqualFold(strings.TrimSpace(text), none): // to Redmine an empty text
		w.put(name, nil, toolpost.Retry("Redmine takes the text %q for an empty one. Write it in another way, such as \"None.\".", text))
	default:
		w.set[name] = text
	}
}

// comment adds a comment to an issue.
func comment(w *issueWrite, text string, private bool) {
	if w.text("notes", text); text != "" {
		w.set["private_notes"] = private
	}
}

// given sets what is given, be it empty.
func given[T any](w *write, name string, value *T) {
	if value != nil {
		w.set[name] = *value
	}
}

// custom sets custom fields, of those known.
func (w *write) custom(set []setField, known func() ([]field, error)) {
	if len(set) == 0 || w.err != nil {
		return
	}
	fields, err := known()
	if err == nil {
		w.fields, err = setFields(set, fields)
	}
	w.put("custom_fields", w.fields, err)
}

// named sets what text names in a source.
func (w *write) named(name, text string, src source) {
	switch {
	case text == "" || w.err != nil:
	case strings.EqualFold(text, none):
		w.set[name] = ""
	default:
		n, err := w.s.find(w.ctx, src, text)
		w.put(name, n.ID, err)
	}
}

// status refuses what the workflow does not allow: Redmine would ignore it.
func (w *issueWrite) status(text string) {
	if text == "" || w.err != nil {
		return
	}
	if w.before == nil || len(w.before.Allowed) == 0 || w.set["tracker_id"] != nil || w.set["project_id"] != nil {
		w.named("status_id", text, statuses())
		return
	}
	n, err := w.s.find(w.ctx, statuses(), text)
	if err == nil && n.ID != w.before.Status.ID && !slices.ContainsFunc(w.before.Allowed, func(a named) bool { return a.ID == n.ID }) {
		err = toolpost.Retry("Issue %d is %s, and the workflow does not allow %s for this account. Allowed are: %s.", w.before.ID, w.before.Status, n, listed(w.before.Allowed))
	}
	w.put("status_id", n.ID, err)
}

func (w *write) person(name, text string) {
	switch {
	case text == "" || w.err != nil:
	case strings.EqualFold(text, none):
		w.set[name] = ""
	default:
		n, err := w.s.person(w.ctx, w.project, text)
		w.put(name, n.ID, err)
	}
}

func (w *write) number(name, text string) {
	switch {
	case text == "":
	case strings.EqualFold(text, none):
		w.set[name] = ""
	default:
		n, err := id("an issue", text)
		w.put(name, n, err)
	}
}

func (w *write) day(name, text string) {
	switch {
	case text == "":
	case strings.EqualFold(text, none):
		w.set[name] = ""
	default:
		d, err := date(text)
		w.put(name, d, err)
	}
}

func (w *write) hours(name, text string) {
	switch {
	case text == "":
	case strings.EqualFold(text, none):
		w.set[name] = ""
	default:
		h, err := readHours(text)
		w.put(name, h, err)
	}
}

func (w *write) percent(text string) {
	if text == "" {
		return
	}
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(text), "%"))
	if err != nil || n < 0 || n > 100 {
		w.put("done_ratio", 0, toolpost.Retry("%q is no percentage; give a number from 0 to 100.", text))
		return
	}
	w.put("done_ratio", n, nil)
}

// date checks a day.
func date(text string) (string, error) {
	text = strings.TrimSpace(text)
	if strings.EqualFold(text, "today") {
		return time.Now().Format(time.DateOnly), nil
	}
	if _, err := time.Parse(time.DateOnly, text); err != nil {
		return "", toolpost.Retry("%q is no date; write it like 2026-01-31.", text)
	}
	return text, nil
}

var clock = regexp.MustCompile(`^(?:(\d+(?:[.,]\d+)?)\s*(?:h|hours?)?|(?:(\d+)\s*h\s*)?(\d+)\s*m(?:in)?|(\d+):(\d\d))$`)

// readHours reads 1.5, 1h30m, 90m and 1:30.
func readHours(text string) (float64, error) {
	m := clock.FindStringSubmatch(strings.ToLower(strings.TrimSpace(text)))
	if m == nil {
		return 0, toolpost.Retry("%q are no hours; write them like 1.5 or 1h30m or 1:30.", text)
	}
	part := func(i int) float64 {
		n, _ := strconv.ParseFloat(strings.ReplaceAll(m[i], ",", "."), 64) // empty is 0
		return n
	}
	h := part(1) + part(2) + part(3)/60 + part(4) + part(5)/60
	return math.Round(h*100) / 100, nil
}

// told answers with the issue as it is now, and with what is not as it was asked.
func (w *issueWrite) told(n int, done string) (*toolpost.Result, error) {
	now, err := readIssue(w.ctx, w.s, n, "journals,attachments,watchers")
	if err != nil {
		return nil, toolpost.Failed("%s issue %d, but it cannot be read back: %v", done, n, err)
	}
	wrong := append(differences(w.set, now), unset(w.fields, now.CustomFields)...)
	if w.before != nil && len(wrong) > 0 && len(wrong) >= wanted(w) {
		return nil, toolpost.Failed("Redmine did not take the change of issue %d; this account may not make it, the workflow forbids it, or somebody else changed the issue at the same time: %s.", n, strings.Join(wrong, "; "))
	}
	now.Journals = newest(now.Journals, w.before != nil)
	answer := struct {
		Issue   *issueDetail `json:"issue"`
		Ignored []string     `json:"not_taken,omitempty"`
	}{detailOf(now), wrong}
	text := outcome(fmt.Sprintf("%s issue %d", done, n), "this account may not set it, or the workflow forbids it", wrong)
	return w.s.answer(text+"\n"+answer.Issue.text(), answer)
}

// outcome words what was done, what Redmine did not take of it, and why.
func outcome(done, why string, wrong []string) string {
	if len(wrong) == 0 {
		return done + ".\n"
	}
	return fmt.Sprintf("%s, but Redmine did not take all of it; %s:\n- %s\n", done, why, strings.Join(wrong, "\n- "))
}

// wanted is how many things were to be set. Redmine says that an issue was updated
// also if nothing was.
func wanted(w *issueWrite) int {
	n := len(w.set) + len(w.fields)
	if _, ok := w.set["custom_fields"]; ok {
		n-- // they are counted each
	}
	if private, ok := w.set["private_notes"].(bool); ok && !private {
		n--
	}
	return n
}

// newest is the last journal, if there was a change.
func newest(all []journal, changed bool) []journal {
	if !changed || len(all) == 0 {
		return nil
	}
	return all[len(all)-1:]
}

// differences tell the fields that are not as they were set.
func differences(set map[string]any, now *issue) []string {
	id := func(n *named) any {
		if n == nil {
			return ""
		}
		return n.ID
	}
	estimated := any("")
	if now.EstimatedHours != nil {
		estimated = *now.EstimatedHours
	}
	is := map[string]any{
		"project_id": now.Project.ID, "tracker_id": now.Tracker.ID, "status_id": now.Status.ID, "priority_id": now.Priority.ID,
		"assigned_to_id": id(now.AssignedTo), "category_id": id(now.Category), "fixed_version_id": id(now.FixedVersion),
		"parent_issue_id": id(now.Parent), "subject": now.Subject, "description": lf(now.Description), "start_date": now.StartDate,
		"due_date": now.DueDate, "done_ratio": now.DoneRatio, "is_private": now.IsPrivate, "estimated_hours": estimated,
	}
	wrong := unlike(set, is)
	return append(wrong, notAdded(set, now)...)
}

// notAdded tells what was to be added or removed, and was not.
func notAdded(set map[string]any, now *issue) (wrong []string) {
	if text, ok := set["notes"].(string); ok {
		i := slices.IndexFunc(now.Journals, func(j journal) bool { return lf(j.Notes) == lf(text) })
		for k := i + 1; k > 0 && k < len(now.Journals); k++ { // the newest of that text
			if lf(now.Journals[k].Notes) == lf(text) {
				i = k
			}
		}
		switch private, _ := set["private_notes"].(bool); {
		case i < 0 && private:
			wrong = append(wrong, "the comment was not added", "so none is private")
		case i < 0:
			wrong = append(wrong, "the comment was not added")
		case now.Journals[i].Private != private:
			wrong = append(wrong, fmt.Sprintf("the comment %d is there, but private is %v", now.Journals[i].ID, !private))
		}
	}
	return append(wrong, leftAsWas(set, now)...)
}

// leftAsWas tells the files that are still there, and who does not watch.
func leftAsWas(set map[string]any, now *issue) (wrong []string) {
	removed, _ := set["deleted_attachment_ids"].([]int)
	for _, a := range now.Attachments {
		if slices.Contains(removed, a.ID) {
			wrong = append(wrong, fmt.Sprintf("the file %s [%d] is still there", a.Name, a.ID))
		}
	}
	watchers, _ := set["watcher_user_ids"].([]int)
	for _, id := range watchers {
		if !slices.ContainsFunc(now.Watchers, func(n named) bool { return n.ID == id }) {
			wrong = append(wrong, fmt.Sprintf("user %d does not watch it, or this account may not see who does", id))
		}
	}
	return wrong
}

// unlike tells what is not as it was set, of what is known.
func unlike(set, is map[string]any) []string {
	var wrong []string
	for _, name := range sorted(set) {
		value, known := is[name]
		asked := set[name]
		if text, ok := asked.(string); ok {
			asked = lf(text)
		}
		if known && fmt.Sprint(value) != fmt.Sprint(asked) {
			wrong = append(wrong, fmt.Sprintf("%s is %v, not %v", name, shown(value), shown(asked)))
		}
	}
	return wrong
}

func shown(v any) string {
	text := fmt.Sprint(v)
	if text == "" {
		return "empty"
	}
	if r := []rune(text); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return text
}
