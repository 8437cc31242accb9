package redmine

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestHoursAsWritten(t *testing.T) {
	for text, want := range map[string]string{
		"1.5": "1.5", "1,5": "1.5", "1h30m": "1.5", "1h15": "1.25", "1 h 30 min": "1.5", "90m": "1.5", "1:30": "1.5", "2 hours": "2", "2H": "2", "0": "0", " 3 ": "3", "1.333333": "1.333333",
		"0:05": `"0:05"`, "5m": `"0:05"`, "1:20": `"1:20"`, "1h20m": `"1:20"`, "1h20": `"1:20"`, "80 min": `"1:20"`, "1 hour 30 minutes": "1.5", "2 hours and 6 mins": "2.1", "2hrs": "2", "1 hr 15 min": "1.25", "30 minutes": "0.5",
		"1h5": `"1:05"`, ".5": "0.5", "１．５": "1.5", "1時間30分": "1.5", "45分": "0.75", "2時間": "2", "0:03": "0.05", "0h": "0",
	} {
		got, err := readHours(text)
		if raw := string(encode(got)); strings.TrimSpace(raw) != want || err != nil {
			t.Errorf("%q: %s %v, want %s", text, raw, err, want)
		}
	}
	for _, text := range []string{"", "h", "1:60", "1h60m", "-1", "1.", "1,234", "1e3", "1h and", "1:5", "..5", "1.5h30m", "and 5m", "NaN", "½", "1 2", strings.Repeat("9", 400)} {
		if got, err := readHours(text); err == nil {
			t.Errorf("%.20q is %v", text, got)
		}
	}
}

// TestHoursOfRedmine: Redmine 6.0.0 and 6.0.1 write some hours as fractions.
func TestHoursOfRedmine(t *testing.T) {
	for text, want := range map[string]hours{`1.5`: 1.5, `"5/4"`: 1.25, `"1.5"`: 1.5, `null`: 0, `"1/3"`: 0.33} {
		var got hours
		if err := json.Unmarshal([]byte(text), &got); got != want || err != nil {
			t.Errorf("%s: %v %v, want %v", text, float64(got), err, float64(want))
		}
	}
	for _, text := range []string{`"5/0"`, `"0/0"`, `"x"`, `true`, `[]`, `"1/2/3"`, `"NaN"`} {
		var got hours
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is %v", text, float64(got))
		}
	}
	if got := hours(1.25).String(); got != "1.25 h, 1:15" {
		t.Error(got)
	}
}

// FuzzHours: hours that are taken are a number that JSON can hold.
func FuzzHours(f *testing.F) {
	for _, text := range []string{"1.5", "1h30m", "90 min", "1:30", strings.Repeat("9", 400)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if h, err := readHours(text); err == nil && (h.hours < 0 || math.IsNaN(h.hours) || math.IsInf(h.hours, 0) || !json.Valid(encode(h))) {
			t.Errorf("%q is %v", text, h)
		}
		var h hours
		if err := h.UnmarshalJSON([]byte(text)); err == nil {
			if _, err := json.Marshal(h); err != nil {
				t.Errorf("%q is %v", text, float64(h))
			}
		}
	})
}

func TestShorterMonths(t *testing.T) {
	day := func(text string) time.Time {
		d, err := time.Parse(time.DateOnly, text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct {
		from   string
		months int
		want   string
	}{{"2026-03-31", -1, "2026-02-28"}, {"2026-01-31", 1, "2026-02-28"}, {"2026-02-28", -12, "2025-02-28"}, {"2028-02-29", -12, "2027-02-28"}} {
		if got := addMonths(day(c.from), c.months).Format(time.DateOnly); got != c.want {
			t.Errorf("%s and %d months: %s, want %s", c.from, c.months, got, c.want)
		}
	}
}

// FuzzPeriod: a period is a condition that Redmine takes, or is left as it is.
func FuzzPeriod(f *testing.F) {
	for _, text := range []string{"last 7 days", "past 9999 years", "next 2 months", "this month", "2026-01", "overdue", "since 2026"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range []filterKind{kindDate, kindPast} {
			c, err := inPeriod(kind, condition{"created_on", "=", []string{text}})
			if err == nil && c.operator != "=" && kind.fits(c) != nil {
				t.Errorf("%q is %v: %v", text, c, kind.fits(c))
			}
		}
	})
}

func TestWikiTitleAsRedmineStoresIt(t *testing.T) {
	for given, want := range map[string]string{
		"guide": "Guide", "The guide": "The_guide", "a.b/c?d": "Abcd", "設計 メモ": "設計_メモ", "ärger": "Ärger", "": "", "...": "", "  x  ": "X",
	} {
		if got := wikiTitle(given); got != want {
			t.Errorf("%q: %q, want %q", given, got, want)
		}
	}
}

// FuzzWikiTitle: a title that was stored is found by itself.
func FuzzWikiTitle(f *testing.F) {
	f.Add("the guide, part 2")
	f.Add("\xff")
	f.Fuzz(func(t *testing.T, title string) {
		once := wikiTitle(title)
		if again := wikiTitle(once); again != once {
			t.Errorf("%q: %q, then %q", title, once, again)
		}
		if strings.ContainsAny(once, " ,./?;|:") {
			t.Errorf("%q: %q", title, once)
		}
	})
}

// FuzzPiece: the pieces of a text, read one after the other, are the whole text, and
// cut no letter in two.
func FuzzPiece(f *testing.F) {
	f.Add("one 言葉 <&>", 1)
	f.Add("言", 1)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit < 1 || len(text) > 10_000 || !utf8.ValidString(text) { // other files are no text
			return
		}
		var whole strings.Builder
		for offset := int64(0); offset < int64(len(text)); {
			from, to := piece([]byte(text), offset, int64(limit))
			if from != offset || to <= from || to > int64(len(text)) {
				t.Fatalf("%q from %d, limit %d: %d to %d", text, offset, limit, from, to)
			}
			part := text[from:to]
			if !utf8.ValidString(part) {
				t.Fatalf("%q from %d, limit %d: %q", text, offset, limit, part)
			}
			whole.WriteString(part)
			offset = to
		}
		if whole.String() != text {
			t.Errorf("%q is read as %q", text, whole.String())
		}
	})
}
