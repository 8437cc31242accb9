package redmine

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolpost/toolpost/internal/lazyregexp"
	"golang.org/x/text/unicode/norm"
)

// dayForms are the forms of a day. 01/02/2026 is not among them: it is another day in
// other countries.
var dayForms = []string{
	"2006-01-02", "2006-1-2", "2006/1/2", "2006.1.2", "2006年1月2日", "20060102", "2.1.2006",
	"2 Jan 2006", "2 January 2006", "Jan 2, 2006", "January 2, 2006", "Jan 2 2006", "January 2 2006",
}

// namedDays are days in words, counted from today.
var namedDays = map[string]int{
	"today": 0, "yesterday": -1, "tomorrow": 1, "今日": 0, "本日": 0, "昨日": -1, "明日": 1,
}

var (
	awayFromToday = lazyregexp.New(`^(?:in (\d{1,4}) ?([dwmy]|day|week|month|year)s?|(\d{1,4}) ?([dwmy]|day|week|month|year)s? (ago|from now|from today))$`)
	quarterForm   = lazyregexp.New(`^(?:(\d{4})[ -]?q([1-4])|q([1-4])[ /-]?(\d{4}))$`)
)

// readDay reads a day: a date, today, tomorrow, 3 days ago, in 2 weeks.
func readDay(text string) (day time.Time, ok bool) {
	text = foldName(text)
	if days, named := namedDays[text]; named {
		return time.Now().AddDate(0, 0, days), true
	}
	if m := awayFromToday.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1] + m[3])
		if m[5] == "ago" {
			n = -n
		}
		return awayFrom(time.Now(), n, (m[2] + m[4])[:1]), true
	}
	for _, form := range dayForms {
		if day, err := time.Parse(form, text); err == nil {
			return day, true
		}
	}
	return time.Time{}, false
}

// awayFrom returns the day n days, weeks, months or years after another, by the first
// letter of the unit.
func awayFrom(day time.Time, n int, unit string) time.Time {
	switch unit {
	case "w":
		return day.AddDate(0, 0, 7*n)
	case "m":
		return addMonths(day, n)
	case "y":
		return addMonths(day, 12*n)
	}
	return day.AddDate(0, 0, n)
}

// addMonths returns the same day of another month, or the last one if that is shorter.
func addMonths(day time.Time, months int) time.Time {
	then := day.AddDate(0, months, 0)
	if then.Day() != day.Day() {
		then = then.AddDate(0, 0, -then.Day())
	}
	return then
}

// monthsOf writes the days of months, quarters and years.
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

// datesOf returns the first and the last day of a day or a period, such as 2026-01 and last week.
func datesOf(text string) (first, last string, ok bool) {
	if first, last, ok = spanOf(text); ok {
		return first, last, true
	}
	operator, values := relativePeriod(cmp.Or(periodNames[text], text))
	switch operator {
	case "":
		return "", "", false
	case "><":
		first, _, ok = spanOf(values[0])
		_, last, alsoOK := spanOf(values[1])
		return first, last, ok && alsoOK
	}
	from, to := daysFromNow(time.Now(), operator, values)
	return from.Format(time.DateOnly), to.Format(time.DateOnly), true
}

// daysFromNow returns the first and the last day of what an operator counts from now. A
// week begins on Monday.
func daysFromNow(now time.Time, operator string, values []string) (first, last time.Time) {
	n := 0
	if len(values) > 0 {
		n, _ = strconv.Atoi(values[0]) // it was written by this program
	}
	shift := map[byte]int{'l': -1, 'n': 1}[operator[0]] // ld, lw, lm, nd, nw, nm
	switch operator {
	case "><t-":
		return now.AddDate(0, 0, -n), now
	case "><t+":
		return now, now.AddDate(0, 0, n)
	case "w", "lw", "nw":
		first = now.AddDate(0, 0, 7*shift-(int(now.Weekday())+6)%7)
		return first, first.AddDate(0, 0, 6)
	case "m", "lm", "nm":
		first = time.Date(now.Year(), now.Month()+time.Month(shift), 1, 0, 0, 0, 0, now.Location())
		return first, first.AddDate(0, 1, -1)
	case "y":
		first = time.Date(now.Year(), 1, 1, 0, 0, 0, 0, now.Location())
		return first, first.AddDate(1, 0, -1)
	}
	day := now.AddDate(0, 0, shift)
	return day, day
}

// spanOf returns the first and the last day of a day, month, quarter or year.
func spanOf(text string) (first, last string, ok bool) {
	if day, ok := readDay(text); ok {
		first = day.Format(time.DateOnly)
		return first, first, true
	}
	return daysOf(text)
}

// daysOf returns the first and the last day of a month, quarter or year.
func daysOf(text string) (first, last string, ok bool) {
	text = norm.NFKC.String(strings.TrimSpace(text))
	if m := quarterForm.FindStringSubmatch(foldName(text)); m != nil {
		n, _ := strconv.Atoi(m[2] + m[3])
		year, _ := strconv.Atoi(m[1] + m[4])
		first, last = quarter(year, n)
		return first, last, true
	}
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

// quarter returns the first and the last day of a quarter, counted from that of January
// as the first: 0 is the last one of the year before.
func quarter(year, n int) (first, last string) {
	day := time.Date(year, time.Month(3*n-2), 1, 0, 0, 0, 0, time.UTC)
	return day.Format(time.DateOnly), day.AddDate(0, 3, -1).Format(time.DateOnly)
}
