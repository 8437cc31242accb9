package redmine

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolpost/toolpost"
)

// A condition is what all rows of a list meet.
type condition struct {
	name, operator string
	values         []string
}

// encodeConditions writes conditions in the long form, in which no value can be taken for an
// operator or for several.
func encodeConditions(all []condition) url.Values {
	query := url.Values{}
	for _, c := range all {
		query.Add("f[]", c.name)
		query.Set("op["+c.name+"]", c.operator)
		for _, v := range c.values {
			query.Add("v["+c.name+"][]", v)
		}
	}
	return query
}

// A filterKind is what a filter may be asked: operators with blanks between, as Redmine
// 5.0 has them. It does not refuse others, and then finds nothing, or everything.
type filterKind string

const (
	kindList        filterKind = "= !"
	kindStatus      filterKind = "= ! o c *"
	kindOptional    filterKind = "= ! !* *"
	kindSubprojects filterKind = "* !*"
	kindPast        filterKind = "= >= <= >< >t- <t- ><t- t- t ld w lw l2w m lm y !* *"
	kindDate        filterKind = "= >= <= >< <t+ >t+ ><t+ t+ nd t ld nw w lw l2w nm m lm y >t- <t- ><t- t- !* *"
	kindLine        filterKind = "~ = !~ ! ^ $ !* *"
	kindText        filterKind = "~ !~ ^ $ !* *"
	kindSearch      filterKind = "~ !~"
	kindNumber      filterKind = "= >= <= >< !* *"
	kindRelation    filterKind = "= ! =p =!p !p *o !o !* *"
	kindTree        filterKind = "= ~ !* *"
)

func (k filterKind) operators() []string { return strings.Fields(string(k)) }

// alone are the operators that take no values.
var alone = strings.Fields("!* * o c *o !o t ld w lw l2w m lm y nd nw nm")

// fromToday are the days, weeks, months and years that are counted from today.
var fromToday = strings.Fields("t ld w lw l2w m lm y nd nw nm")

// fits refuses what Redmine would not understand of a condition.
func (k filterKind) fits(c condition) error {
	n, needed := len(c.values), 1
	switch {
	case !slices.Contains(k.operators(), c.operator):
		return toolpost.Retry.Errorf("The filter %s does not take the operator %q. It takes: %s.", c.name, c.operator, strings.Join(k.operators(), " "))
	case slices.Contains(alone, c.operator):
		needed = 0
	case c.operator == "><":
		needed = 2
	case (c.operator == "=" || c.operator == "!") && k != kindDate && k != kindPast && k != kindRelation:
		needed = max(1, n) // any number
	}
	switch {
	case n == 0 && needed > 0:
		return toolpost.Retry.Errorf("The filter %s with %q needs values.", c.name, c.operator)
	case n != needed:
		return toolpost.Retry.Errorf("The filter %s with %q needs exactly %d values, not %d.", c.name, c.operator, needed, n)
	}
	return nil
}

// split parts a condition in one text: an operator, "=" if there is none, and what
// follows it.
func (k filterKind) split(text string) (operator, rest string) {
	if text == "*" || text == "!*" {
		return text, "" // no value is called so
	}
	longest := k.operators()
	slices.SortStableFunc(longest, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, o := range longest {
		after, found := strings.CutPrefix(text, o)
		if found && slices.Contains(alone, o) == (after == "") {
			return o, after
		}
	}
	return "=", text
}

// A finder turns what people write into what Redmine wants.
type finder func(q *listQuery, operator string, values []string) ([]string, error)

// each finds one value after the other.
func each(find func(q *listQuery, text string) (string, error)) finder {
	return func(q *listQuery, _ string, values []string) ([]string, error) {
		found := make([]string, len(values))
		for i, v := range values {
			var err error
			if found[i], err = find(q, v); err != nil {
				return nil, err
			}
		}
		return found, nil
	}
}

// integers are the numbers of a filter that takes several in one text.
func integers(_ *listQuery, operator string, values []string) ([]string, error) {
	for i, v := range values {
		n, err := numeral("a filter", strings.TrimSuffix(v, "%"), false)
		if err != nil {
			return nil, err
		}
		values[i] = n
	}
	if operator == "=" {
		return []string{strings.Join(values, ",")}, nil
	}
	return inOrder(operator, values)
}

func decimals(_ *listQuery, operator string, values []string) ([]string, error) {
	for i, v := range values {
		n, err := numeral("a filter", v, true)
		if err != nil {
			return nil, err
		}
		values[i] = n
	}
	return inOrder(operator, values)
}

func hoursOf(_ *listQuery, operator string, values []string) ([]string, error) {
	all, numbers := make([]string, len(values)), make([]string, len(values))
	for i, v := range values {
		t, err := readHours(v)
		if err != nil {
			return nil, err
		}
		numbers[i] = strconv.FormatFloat(t.hours, 'f', -1, 64)
		all[i] = cmp.Or(t.clock, numbers[i])
	}
	_, err := inOrder(operator, numbers)
	return all, err
}

// byMinute is a condition on hours. Redmine takes numbers only: a time with minutes, such
// as 1:20, is each that Redmine shows so, be it kept as a third or as 1.33.
func byMinute(c condition) condition {
	if !slices.Contains([]string{"hours", "estimated_hours", "spent_time"}, c.name) {
		return c
	}
	if c.operator == "=" && len(c.values) == 1 && strings.Contains(c.values[0], ":") {
		c.operator, c.values = "><", []string{c.values[0], c.values[0]}
	}
	for i, v := range c.values {
		if !strings.Contains(v, ":") {
			continue
		}
		half := 0.5 / 60
		if i == 0 && c.operator != "<=" {
			half = -half
		}
		t, _ := readHours(v) // it was read before
		c.values[i] = strconv.FormatFloat(math.Max(0, t.hours+half), 'f', 4, 64)
	}
	return c
}

// inOrder refuses a range that nothing is in, and several numbers where one counts.
func inOrder(operator string, values []string) ([]string, error) {
	switch {
	case operator != "><" && len(values) > 1:
		return nil, toolpost.Retry.Errorf("This filter takes one value with %q, not %d.", operator, len(values))
	case operator == "><":
		first, _ := strconv.ParseFloat(values[0], 64)
		if last, _ := strconv.ParseFloat(values[1], 64); first > last {
			return nil, toolpost.Retry.Errorf("The range from %s to %s is empty: give the smaller value first.", values[0], values[1])
		}
	}
	return values, nil
}

// datesOrTimes are dates, times, or numbers of days from now.
func datesOrTimes(q *listQuery, operator string, values []string) ([]string, error) {
	var times []string
	for _, v := range values {
		if t, err := time.Parse(time.RFC3339, v); err == nil {
			times = append(times, t.UTC().Format(seconds))
		}
	}
	switch {
	case len(times) == 0:
		return dates(q, operator, values)
	case len(times) < len(values):
		return nil, toolpost.Retry.Errorf("Give two dates or two times, not one of each.")
	case operator == "><" && times[0] > times[1]:
		return nil, toolpost.Retry.Errorf("The first time, %s, is after the last, %s.", times[0], times[1])
	}
	return times, nil
}

// seconds is how Redmine reads a time: without fractions.
const seconds = "2006-01-02T15:04:05Z"

// onCalendar is a condition on a column of days, such as due_date. Redmine takes a
// day for the hours that it has in the account's time zone, and is one day off where
// that is west of the server's. An hour in between is of the same day in both.
func onCalendar(q *listQuery, c condition) condition {
	switch relative := strings.Contains(c.operator, "t") || slices.Contains(fromToday, c.operator); {
	case !slices.Contains([]string{"spent_on", "start_date", "due_date", "fixed_version.due_date"}, c.name):
		return c
	case relative:
		q.told = append(q.told, fmt.Sprintf("Redmine counts %s from today in the account's time zone, and is one day off if that zone is west of the server's: give dates to be sure.", c.name))
		return c
	case len(c.values) == 0:
		return c
	}
	first, last := c.values[0], c.values[len(c.values)-1]
	if day, err := time.Parse(time.DateOnly, first); err == nil {
		first = day.AddDate(0, 0, -1).Format(time.DateOnly)
	}
	first, last = first+"T10:00:01Z", last+"T10:00:00Z"
	switch c.operator {
	case ">=":
		c.values = []string{first}
	case "<=":
		c.values = []string{last}
	default:
		c.operator, c.values = "><", []string{first, last}
	}
	return c
}

// dates are dates, or numbers of days from today.
func dates(_ *listQuery, operator string, values []string) ([]string, error) {
	for i, v := range values {
		if strings.Contains(operator, "t") {
			n, err := strconv.Atoi(v)
			if err != nil || n < 0 {
				return nil, toolpost.Retry.Errorf("%q is not a number of days; write a number such as 7 after %s.", v, operator)
			}
			continue
		}
		day, err := date(v)
		if err != nil {
			return nil, toolpost.Retry.Errorf("%q is not a date; write it like 2026-01-31, or >=2026-01-01, <=2026-01-31 or ><2026-01-01|2026-01-31, or a period such as 2026-01, this month or last 7 days.", v)
		}
		values[i] = day
	}
	if operator == "><" && values[0] > values[1] {
		return nil, toolpost.Retry.Errorf("The first day, %s, is after the last, %s.", values[0], values[1])
	}
	return values, nil
}

// texts quotes texts with spaces, to be found as they are: Redmine looks for the words
// one by one otherwise, and leaves out those of one letter. At the begin and the end it
// does so since 5.1; before, it took quotes as they are.
func texts(q *listQuery, operator string, values []string) ([]string, error) {
	for i, v := range values {
		v = strings.TrimSpace(v)
		values[i] = v
		if !strings.ContainsAny(v, " \t") || strings.Contains(v, `"`) {
			continue
		}
		worded := strings.Contains(operator, "~")
		if operator == "^" || operator == "$" {
			var err error
			if worded, err = v51().isReachedBy(q.ctx, q.s.client); err != nil {
				return nil, err
			}
		}
		if worded {
			values[i] = `"` + v + `"`
		}
	}
	return values, nil
}
