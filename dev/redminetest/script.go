// Package redminetest runs scripts of calls against the Redmine tools: with a
// real Redmine in "make live", and with its recorded answers everywhere else.
package redminetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A Caller calls a tool as the user with a login, and returns the text of the
// result.
type Caller func(ctx context.Context, as, tool, arguments string) (text string, failed bool, err error)

// Image is how a picture stands in the text of a result.
func Image(kind string, data []byte) string {
	return fmt.Sprintf("[image %s, %d bytes]", kind, len(data))
}

// A step is one call of a script and what is wanted of its result.
type step struct {
	line            int
	title, as       string
	tool, arguments string
	failed          bool
	has, hasNot     []string
	captures        [][2]string // name and expression
	since, until    string      // versions of Redmine, such as "5.1"; empty for all
}

// suits says whether a step is for a version of Redmine.
func (s *step) suits(version string) bool {
	return compareVersions(s.since, version) <= 0 && (s.until == "" || compareVersions(version, s.until) <= 0)
}

// compareVersions compares versions such as "5.1" number by number: "10.0" is newer
// than "5.1". The empty one is the oldest.
func compareVersions(a, b string) int {
	numbers := func(version string) (all []int) {
		for part := range strings.SplitSeq(version, ".") {
			n, _ := strconv.Atoi(part) // what is no number is 0
			all = append(all, n)
		}
		return all
	}
	return slices.Compare(numbers(a), numbers(b))
}

// parse reads a script:
//
//	# title of what follows
//	@ login               who calls from here on; the administrator without one
//	> tool {arguments}    with ${name} for what was captured, ${a*3} for aaa
//	error                 it fails; otherwise it must not
//	= text                that its result has; one of them is not in the call
//	! text                that it has not
//	$name expression      captures the first group
//	since 5.1             not for an older Redmine
//	until 5.0             not for a newer one
func parse(name, text string) (steps []*step, err error) {
	var title, as string
	var now *step
	for i, line := range strings.Split(text, "\n") {
		mark, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case mark == "":
		case mark == "#":
			title = rest
		case mark == "@":
			as = rest
		case mark == ">":
			tool, arguments, _ := strings.Cut(rest, " ")
			now = &step{line: i + 1, title: title, as: as, tool: tool, arguments: arguments}
			steps = append(steps, now)
		case now == nil:
			return nil, fmt.Errorf("%s:%d: %q before the first call", name, i+1, line)
		case !now.take(mark, rest):
			return nil, fmt.Errorf("%s:%d: %q is no line of a script", name, i+1, line)
		}
	}
	for _, s := range steps {
		if !s.isSpecific() {
			return nil, fmt.Errorf("%s:%d: add a line with = and a text that the result of %s has and the call does not", name, s.line, s.tool)
		}
	}
	return steps, nil
}

// isSpecific reports whether the step expects something that an answer which only
// repeats the call does not have.
func (s *step) isSpecific() bool {
	call := strings.ToLower(s.tool + " " + s.arguments)
	return len(s.captures) > 0 || slices.ContainsFunc(s.has, func(text string) bool {
		return len(text) > 2 && !strings.Contains(call, strings.ToLower(text))
	})
}

// take reads a line that says what is wanted of a step.
func (s *step) take(mark, rest string) bool {
	switch {
	case mark == "error":
		s.failed = true
	case mark == "=":
		s.has = append(s.has, rest)
	case mark == "!":
		s.hasNot = append(s.hasNot, rest)
	case mark == "since":
		s.since = rest
	case mark == "until":
		s.until = rest
	case strings.HasPrefix(mark, "$"):
		s.captures = append(s.captures, [2]string{mark[1:], rest})
	default:
		return false
	}
	return true
}

// Scripts are the names of the scripts, in the order in which they run: they
// share one Redmine.
func Scripts(t *testing.T, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.script"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in %s (%v)", folder, err)
	}
	slices.Sort(files)
	return files
}

// Run runs a script on a version of Redmine, such as "5.0", and returns how many
// calls it made.
func Run(t *testing.T, file, version string, call Caller) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	steps, err := parse(filepath.Base(file), string(text))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]string{}
	steps = slices.DeleteFunc(steps, func(s *step) bool { return !s.suits(version) })
	for _, s := range steps {
		s.run(t, filepath.Base(file), call, known)
	}
	return len(steps)
}

func (s *step) run(t *testing.T, file string, call Caller, known map[string]string) {
	t.Helper()
	fill := func(text string) string {
		return os.Expand(text, func(name string) string {
			if value, ok := known[name]; ok {
				return value
			}
			text, times, _ := strings.Cut(name, "*")
			if n, err := strconv.Atoi(times); err == nil {
				return strings.Repeat(text, n)
			}
			return "${" + name + "}"
		})
	}
	where := fmt.Sprintf("%s:%d: %s: %s as %q", file, s.line, s.title, s.tool, s.as)
	got, failed, err := call(t.Context(), s.as, s.tool, fill(s.arguments))
	if err != nil {
		t.Fatalf("%s: %v", where, err) // what follows depends on it
	}
	if failed != s.failed {
		t.Errorf("%s: failed is %v: %.1500s", where, failed, got)
		return
	}
	for _, text := range s.has {
		if text = fill(text); !strings.Contains(got, text) {
			t.Errorf("%s: no %q in %.1500s", where, text, got)
		}
	}
	for _, text := range s.hasNot {
		if text = fill(text); strings.Contains(got, text) {
			t.Errorf("%s: %q in %.1500s", where, text, got)
		}
	}
	for _, c := range s.captures {
		m := regexp.MustCompile(c[1]).FindStringSubmatch(got)
		if len(m) < 2 {
			t.Errorf("%s: nothing like %s in %.1500s", where, c[1], got)
			continue
		}
		known[c[0]] = m[1]
	}
}
