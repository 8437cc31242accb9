package dialect

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/schema/internal/lower"
)

// check finds what decoding does not: text is what d was read from.
func (d *Dialect) check(text jsontext.Value) error {
	if d.Title == "" {
		return newFault("/title", "is missing")
	}
	if err := checkNumbers(text); err != nil {
		return err
	}
	if err := d.checkPatterns(); err != nil {
		return err
	}
	for _, rules := range []struct {
		at string
		*lower.Rules
	}{{"/input", &d.form.Input}, {"/output/rules", &d.form.Output.Rules}} {
		if err := checkWords(rules.at, rules.Rules); err != nil {
			return err
		}
	}
	for i, c := range d.Clients {
		if err := c.check(); err != nil {
			return newFault(fmt.Sprintf("/clients/%d", i), "is not valid: %w", err)
		}
	}
	known := map[string]bool{}
	for _, r := range sharedRules() {
		known[r.Name] = true
	}
	for i, s := range d.form.Sources {
		if err := s.check(known); err != nil {
			return newFault(fmt.Sprintf("/sources/%d", i), "is not valid: %w", err)
		}
	}
	return nil
}

// checkNumbers refuses negative numbers: all numbers are limits.
func checkNumbers(text jsontext.Value) error {
	dec := jsontext.NewDecoder(bytes.NewReader(text))
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return nil // the end: the text was read before
		}
		if token.Kind() == '0' && strings.HasPrefix(token.String(), "-") {
			return newFault(string(dec.StackPointer()), "is %s; a limit must be 0 or more", token)
		}
	}
}

// expressions returns the regular expressions by where they stand.
func (d *Dialect) expressions() [][2]string {
	return [][2]string{
		{"/name/pattern", d.form.Name.Pattern},
		{"/name/fold", d.form.Name.Fold},
		{"/input/object/name", d.form.Input.Object.Name},
		{"/output/rules/object/name", d.form.Output.Rules.Object.Name},
	}
}

// bracket is one bracket expression, such as [A-Z[:digit:]\]_].
var bracket = lazyregexp.New(`^\[\^?\]?(?:\\.|\[:\^?[a-z]+:\]|[^\]\\])*\]$`)

func (d *Dialect) checkPatterns() error {
	for _, p := range d.expressions() {
		if _, err := regexp.Compile(p[1]); err != nil {
			return newFault(p[0], "is not valid: %w", err)
		}
	}
	if fold := d.form.Name.Fold; fold != "" && !bracket.MatchString(fold) {
		return newFault("/name/fold", "is %.80q; it must be one character class, such as [A-Za-z0-9_]", fold)
	}
	return nil
}

// checkWords refuses words that the rules do not know.
func checkWords(at string, r *lower.Rules) error {
	for _, w := range []struct{ at, word, known string }{
		{"dialect", r.Dialect, "draft-07 openapi"},
		{"null", r.Null, "keyword none"},
		{"untyped", r.Untyped, "json"},
		{"pattern", r.Pattern, "re2 simple anchored whole"},
		{"object/maps", r.Object.Maps, "pairs json"},
		{"array/tuples", r.Array.Tuples, "object"},
		{"ref/recursion", r.Ref.Recursion, "optional none"},
	} {
		if w.word != "" && !slices.Contains(strings.Fields(w.known), w.word) {
			return newFault(at+"/"+w.at, "is %.80q; leave it out, or use one of: %s", w.word, strings.Join(strings.Fields(w.known), ", "))
		}
	}
	return nil
}

func (c Client) check() error {
	for _, v := range []string{c.Since, c.Before} {
		if v != "" && len(numbers(v)) == 0 {
			return fmt.Errorf("the version %q does not begin with a number", v)
		}
	}
	return nil
}

func (s Source) check(known map[string]bool) error {
	for _, r := range s.Rules {
		if !known[r] {
			return fmt.Errorf("unknown rule %q; the rules are %s", r, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	if len(s.Rules) > 0 && !slices.Contains(severities, s.Effect) {
		return fmt.Errorf("unknown effect %q", s.Effect)
	}
	if _, err := time.Parse(time.DateOnly, s.Date); err != nil {
		return fmt.Errorf("the date %q does not have the form 2026-11-21", s.Date)
	}
	if !slices.Contains(strings.Fields("observed read documented recalled"), s.How) {
		return fmt.Errorf("how is %q; use observed, read, documented or recalled", s.How)
	}
	if s.Source == "" {
		return errors.New("source is missing")
	}
	return nil
}
