package redmine

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/lazyregexp"
	"golang.org/x/text/unicode/norm"
)

// date checks a day.
func date(text string) (string, error) {
	if day, ok := readDay(text); ok {
		return day.Format(time.DateOnly), nil
	}
	return "", toolpost.Retry.Errorf("%q is not a date; write it like 2026-01-31.", strings.TrimSpace(text))
}

// clock has hours, then hours and minutes with or without a unit, minutes, and h:mm.
var clock = lazyregexp.New(`^(?:(\d{1,9}(?:\.\d+|,\d\d?)?|\.\d+)(?:\s*(?:h|hrs?|hours?|時間))?|(\d{1,9})\s*(?:h|hrs?|hours?|時間)` +
	`\s*(?:(?:and )?([0-5]?\d)\s*(?:m|mins?|minutes?|分)|([0-5]?\d))|(\d{1,9})\s*(?:m|mins?|minutes?|分)|(\d{1,9}):([0-5]\d))$`)

// A workTime is hours of work as somebody wrote them.
type workTime struct {
	hours float64
	clock string // h:mm, if hundredths of an hour cannot hold the minutes
}

// readHours reads 1.5, 1h30m, 1h30, 1 hour and 30 minutes, 90m and 1:30.
func readHours(text string) (workTime, error) {
	m := clock.FindStringSubmatch(foldName(text))
	if m == nil {
		return workTime{}, toolpost.Retry.Errorf("%q is not a number of hours; write 1.5, 1h30m or 1:30.", text)
	}
	part := func(i int) int64 {
		n, _ := strconv.ParseInt(m[i], 10, 64) // empty is 0
		return n
	}
	if m[1] != "" {
		hours, _ := strconv.ParseFloat(strings.ReplaceAll(m[1], ",", "."), 64)
		return workTime{hours: hours}, nil
	}
	minutes := 60*(part(2)+part(6)) + part(3) + part(4) + part(5) + part(7)
	t := workTime{hours: float64(minutes) / 60}
	if minutes%3 != 0 {
		t.clock = fmt.Sprintf("%d:%02d", minutes/60, minutes%60)
	}
	return t, nil
}

// MarshalJSON implements [json.Marshaler]. Before 6.0, Redmine keeps the number 1.33 as
// it is, and three of them are 3.99 hours. It reads 1:20 as a third.
func (t workTime) MarshalJSON() ([]byte, error) {
	if t.clock != "" {
		return strconv.AppendQuote(nil, t.clock), nil
	}
	return json.Marshal(t.hours)
}

// String returns the hours as Redmine returns them: with two places.
func (t workTime) String() string { return fmt.Sprint(math.Round(t.hours*100) / 100) }

// percent reads 50 and 50%.
func percent(text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(text), "%"))
	if err != nil || n < 0 || n > 100 {
		return 0, toolpost.Retry.Errorf("%q is not a percentage; give a number from 0 to 100.", text)
	}
	return n, nil
}

// number reads an id: 12, #12 or １２.
func number(text string) (int, bool) {
	text = strings.TrimPrefix(strings.TrimSpace(norm.NFKC.String(text)), "#")
	n, err := strconv.Atoi(text)
	return n, err == nil && n > 0
}

var addressOfID = lazyregexp.New(`^https?://\S+?/[a-z_]+/(\d+)(?:\.json)?(?:[?#]\S*)?$`)

// id reads the id of something without a name: a number, or the address of its page.
func id(what, text string) (int, error) {
	text = strings.TrimSpace(text)
	if m := addressOfID.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	if n, ok := number(strings.TrimSuffix(text, ".0")); ok {
		return n, nil
	}
	return 0, toolpost.Retry.Errorf("%q is not the id of %s; give the number, such as 12.", text, what)
}

func truth(text string) (bool, error) { return text == "true", nil }

func issueNumber(text string) (int, error) { return id("an issue", text) }

// yesNo is 1 or 0.
func yesNo(what, text string) (string, error) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "1", "yes", "true":
		return "1", nil
	case "0", "no", "false":
		return "0", nil
	}
	return "", toolpost.Retry.Errorf("%q is not a valid value for %s; write yes or no.", text, what)
}

var decimal = lazyregexp.New(`^[+-]?\d+\.\d+$`)

// numeral checks a number.
func numeral(what, text string, fraction bool) (string, error) {
	text = strings.TrimSpace(text)
	if _, err := strconv.Atoi(text); err == nil {
		return text, nil
	}
	if fraction && decimal.MatchString(text) {
		return text, nil
	}
	if fraction {
		return "", toolpost.Retry.Errorf("%q is not a number for %s; write a number such as 1.5.", text, what)
	}
	return "", toolpost.Retry.Errorf("%q is not a whole number for %s; write a number such as 12.", text, what)
}
