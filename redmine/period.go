package redmine

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/lazyregexp"
	"golang.org/x/text/unicode/norm"
)

// inPeriod makes a condition on dates of a period in words, such as last 7 days, and of
// months and years, such as 2026-01. Others stay as they are.
func inPeriod(kind filterKind, c condition) (condition, error) {
	if kind != kindDate && kind != kindPast {
		return c, nil
	}
	if c.operator == "=" && len(c.values) == 1 {
		text := strings.ReplaceAll(folded(c.values[0]), "_", " ")
		if text == "overdue" && !strings.HasSuffix(c.name, "due_date") {
			return c, toolpost.Retry("Only a due date can be overdue, %s cannot: give overdue as the due_date.", c.name)
		}
		if operator, values := periodOf(text); slices.Contains(kind.operators(), operator) {
			c.operator, c.values = operator, values
		}
	}
	return monthsOf(c), nil
}

var (
	span = lazyregexp.New(`^(?:(?:in|for|within|during) )?(?:the )?(this|current|last|previous|past|next|coming) (?:(\d{1,4}) )?(hour|day|week|month|year)s?$`)
	edge = lazyregexp.New(`^(since|from|until|till|up to) (\S+)$`)
)

// periodOf returns the operator and values for a period in words, "" if it is none.
func periodOf(text string) (operator string, values []string) {
	switch text {
	case "yesterday":
		return "ld", nil
	case "tomorrow":
		return "nd", nil
	case "overdue":
		return "<t-", []string{"1"}
	}
	if m := edge.FindStringSubmatch(text); m != nil {
		if m[1] == "since" || m[1] == "from" {
			return ">=", m[2:]
		}
		return "<=", m[2:]
	}
	m := span.FindStringSubmatch(text)
	if m == nil {
		return "", nil
	}
	which, number, unit := m[1], m[2], m[3]
	which = cmp.Or(map[string]string{"current": "this", "previous": "last", "coming": "next"}[which], which)
	if which == "past" { // a past week is seven days, the last one a week of the calendar
		which, number = "last", cmp.Or(number, "1")
	}
	if number == "" {
		return calendarPeriod(which, unit)
	}
	n, _ := strconv.Atoi(number)
	if n == 0 || which == "this" {
		return "", nil
	}
	return fromNow(which == "next", n, unit)
}

// calendarPeriod is this, the last or the next day, week, month or year.
func calendarPeriod(which, unit string) (operator string, values []string) {
	if unit == "year" && which != "this" {
		year := time.Now().Year() - 1
		if which == "next" {
			year += 2
		}
		return "><", []string{strconv.Itoa(year), strconv.Itoa(year)}
	}
	return map[string]string{
		"this day": "t", "this week": "w", "this month": "m", "this year": "y",
		"last day": "ld", "last week": "lw", "last month": "lm",
		"next day": "nd", "next week": "nw", "next month": "nm",
	}[which+" "+unit], nil
}

// fromNow are n hours, days, weeks, months or years before or after now.
func fromNow(after bool, n int, unit string) (operator string, values []string) {
	days := map[string]int{"hour": (n + 23) / 24, "day": n, "week": 7 * n}[unit]
	switch {
	case days > 0 && after:
		return "><t+", []string{strconv.Itoa(days)}
	case days > 0:
		return "><t-", []string{strconv.Itoa(days)}
	}
	months := n
	if unit == "year" {
		months = 12 * n
	}
	now := time.Now()
	if after {
		return "><", []string{now.Format(time.DateOnly), addMonths(now, months).Format(time.DateOnly)}
	}
	return "><", []string{addMonths(now, -months).Format(time.DateOnly), now.Format(time.DateOnly)}
}

// addMonths returns the same day of another month, or the last one if that is shorter.
func addMonths(day time.Time, months int) time.Time {
	then := day.AddDate(0, months, 0)
	if then.Day() != day.Day() {
		then = then.AddDate(0, 0, -then.Day())
	}
	return then
}

// monthsOf writes the days of months and years.
func monthsOf(c condition) condition {
	if !slices.Contains([]string{"=", ">=", "<=", "><"}, c.operator) {
		return c
	}
	c.values = slices.Clone(c.values)
	for i, v := range c.values {
		first, last, ok := daysOf(v)
		switch {
		case !ok:
		case c.operator == "=" && len(c.values) == 1:
			c.operator, c.values = "><", []string{first, last}
			return c
		case c.operator == "<=" || i == 1:
			c.values[i] = last
		default:
			c.values[i] = first
		}
	}
	return c
}

// daysOf returns the first and the last day of a month or year.
func daysOf(text string) (first, last string, ok bool) {
	text = norm.NFKC.String(strings.TrimSpace(text))
	for _, form := range []string{"2006-1", "2006/1", "2006.1", "2006年1月", "January 2006", "Jan 2006", "2006"} {
		day, err := time.Parse(form, text)
		if err != nil {
			continue
		}
		next := day.AddDate(0, 1, 0)
		if form == "2006" {
			next = day.AddDate(1, 0, 0)
		}
		return day.Format(time.DateOnly), next.AddDate(0, 0, -1).Format(time.DateOnly), true
	}
	return "", "", false
}
