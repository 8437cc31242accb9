package redmine

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// inPeriod makes a condition on dates of a period in words, such as last 7 days, and of
// months and years, such as 2026-01. Others stay as they are.
func inPeriod(kind filterKind, c condition) (condition, error) {
	if kind != kindDate && kind != kindPast {
		return c, nil
	}
	if c.operator == "=" && len(c.values) == 1 {
		text := strings.TrimPrefix(strings.ReplaceAll(foldName(c.values[0]), "_", " "), "due ")
		text = cmp.Or(periodNames[text], text)
		if text == "overdue" && !strings.HasSuffix(c.name, "due_date") {
			return c, toolpost.Retry.Errorf("Only a due date can be overdue, %s cannot: give overdue as the due_date.", c.name)
		}
		operator, values := periodOf(text)
		if rest, ok := strings.CutPrefix(text, "within "); ok && operator == "" { // days to come, or those that were
			operator, values = periodOf(map[filterKind]string{kindDate: "next ", kindPast: "last "}[kind] + strings.TrimPrefix(rest, "the "))
		}
		if slices.Contains(kind.operators(), operator) {
			c.operator, c.values = operator, values
		} else if _, isDay := readDay(text); isDay {
			c.values = []string{text}
		}
	}
	return monthsOf(c), nil
}

// periodNames are other words for periods.
var periodNames = map[string]string{
	"past due": "overdue", "late": "overdue", "期限切れ": "overdue", "今日": "today", "本日": "today", "昨日": "yesterday", "明日": "tomorrow",
	"今週": "this week", "先週": "last week", "来週": "next week", "今月": "this month", "先月": "last month", "来月": "next month",
	"今年": "this year", "去年": "last year", "昨年": "last year", "来年": "next year",
}

var (
	span    = lazyregexp.New(`^(?:(?:in|for|within|during) )?(?:the )?(this|current|last|previous|past|next|coming) (?:(\d{1,4}) ?)?(h|d|w|hour|day|week|month|quarter|year)s?$`)
	edge    = lazyregexp.New(`^(?:(since|from|not before|until|till|up to|by|not after|after|before) |([<>]) ?)(\S.*)$`)
	between = lazyregexp.New(`^(?:(?:between|from) )?(\S.*?)(?: (?:to|and|until|till|through|-|–) | ?(?:\.\.\.?|…|〜|~) ?)(\S.*)$`)
)

// rangeOf returns the first and the last day of a range such as 2026-01-01 to 2026-01-31.
func rangeOf(text string) (values []string) {
	m := between.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	first, _, ok := datesOf(m[1])
	_, last, alsoOK := datesOf(m[2])
	if !ok || !alsoOK {
		return nil
	}
	return []string{first, last}
}

// edgeOf returns the condition of a day, period or time with a word before it, such as since
// and before.
func edgeOf(text string) (operator string, values []string) {
	m := edge.FindStringSubmatch(text)
	if m == nil {
		return "", nil
	}
	word := m[1] + m[2]
	operator = ">="
	if slices.Contains([]string{"until", "till", "up to", "by", "not after", "before", "<"}, word) {
		operator = "<="
	}
	if _, err := time.Parse(time.RFC3339, strings.ToUpper(m[3])); err == nil {
		return operator, []string{strings.ToUpper(m[3])}
	}
	first, last, ok := datesOf(m[3])
	switch {
	case !ok:
		return "", nil
	case word == "after", word == ">":
		return operator, []string{nextDay(last, 1)}
	case word == "before", word == "<":
		return operator, []string{nextDay(first, -1)}
	case operator == "<=":
		return operator, []string{last}
	}
	return operator, []string{first}
}

func nextDay(day string, days int) string {
	d, _ := time.Parse(time.DateOnly, day) // it was written by this program
	return d.AddDate(0, 0, days).Format(time.DateOnly)
}

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
	if values := rangeOf(text); values != nil {
		return "><", values
	}
	if operator, values := edgeOf(text); operator != "" {
		return operator, values
	}
	return relativePeriod(text)
}

// relativePeriod returns the operator and values for a period that is counted from now, such
// as last week and next 7 days.
func relativePeriod(text string) (operator string, values []string) {
	m := span.FindStringSubmatch(text)
	if m == nil {
		return "", nil
	}
	which, number, unit := m[1], m[2], cmp.Or(map[string]string{"h": "hour", "d": "day", "w": "week"}[m[3]], m[3])
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

// calendarPeriod is this, the last or the next day, week, month, quarter or year.
func calendarPeriod(which, unit string) (operator string, values []string) {
	if unit == "quarter" {
		now := time.Now()
		n := (int(now.Month())+2)/3 + map[string]int{"last": -1, "next": 1}[which]
		first, last := quarter(now.Year(), n)
		return "><", []string{first, last}
	}
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

// fromNow are n hours, days, weeks, months, quarters or years before or after now.
func fromNow(after bool, n int, unit string) (operator string, values []string) {
	days := map[string]int{"hour": (n + 23) / 24, "day": n, "week": 7 * n}[unit]
	switch {
	case days > 0 && after:
		return "><t+", []string{strconv.Itoa(days)}
	case days > 0:
		return "><t-", []string{strconv.Itoa(days)}
	}
	months := n * map[string]int{"month": 1, "quarter": 3, "year": 12}[unit]
	now := time.Now()
	if after {
		return "><", []string{now.Format(time.DateOnly), addMonths(now, months).Format(time.DateOnly)}
	}
	return "><", []string{addMonths(now, -months).Format(time.DateOnly), now.Format(time.DateOnly)}
}
