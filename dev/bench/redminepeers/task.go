package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
)

// A verdict is how a server did a task.
type verdict string

const (
	right   verdict = "right"
	refused verdict = "refused" // not done, and the answer says so
	wrong   verdict = "wrong"   // harm was done, or the answer hides that something is missing
)

func (v verdict) cell() string {
	if v == wrong {
		return "**wrong**"
	}
	return string(v)
}

// wrongKey stands for an account whose key Redmine does not know.
const wrongKey = "wrong"

// A task is a wish of a user, as one call for each server, in the order of
// servers. In calls, ${name} stands for a fact; a server without a call offers no
// tool for the task.
type task struct {
	wish    string
	as      string                 // the account, alice if empty
	prepare func(r *redmine) facts // the facts of this run, nil if there are none
	calls   [4]string
	judge   func(r *redmine, f facts, a answer) verdict
}

type facts map[string]string

// run has a server do a task, and judges by what Redmine has afterwards.
func (t *task) run(ctx context.Context, s *server, index int, r *redmine, verbose bool) (verdict, error) {
	if t.calls[index] == "" {
		return refused, nil
	}
	var f facts
	if t.prepare != nil {
		f = t.prepare(r)
	}
	if r.err != nil {
		return "", r.err
	}
	as := t.as
	if as == "" {
		as = "alice"
	}
	call := os.Expand(t.calls[index], func(name string) string { return f[name] })
	a, err := s.call(ctx, as, call)
	if err != nil {
		return "", err
	}
	v := t.judge(r, f, a)
	if verbose {
		fmt.Fprintf(os.Stderr, "%s | %s: %s\n  %s\n  failed %v: %.600s\n\n", s.name, t.wish, v, call, a.failed, a.text)
	}
	return v, r.err
}

// objection is how the servers report that something was not done.
var objection = regexp.MustCompile(`(?m)^Error: |"(error|errors|unapplied_fields)":|^status_code: [45]|^Nothing has been deleted`)

// objects reports whether the answer admits that something was not done.
func (a answer) objects() bool { return a.failed || objection.MatchString(a.text) }

// does judges a task that can be done.
func does(done bool, a answer) verdict {
	switch {
	case done:
		return right
	case a.objects():
		return refused
	}
	return wrong
}

// refuses judges a task that must not be done.
func refuses(harm bool, a answer) verdict {
	if harm || !a.objects() {
		return wrong
	}
	return right
}
