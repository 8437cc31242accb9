package redmine

import (
	"slices"
	"strings"
)

// noValue are words for what is not set.
var noValue = []string{none, "nobody", "no one", "unassigned", "not assigned", "unset", "not set", "empty", "null", "nil"}

// isName reports whether something that a filter finds is called so, and is not only found
// by a part of its name.
func isName(q *listQuery, spec filterSpec, operator, text string) bool {
	told, empty := q.told, q.empty
	_, err := spec.find(q, operator, []string{text})
	whole := err == nil && len(q.told) == len(told)
	q.told, q.empty = told, empty
	return whole
}

// isFound reports whether a filter finds something by a text.
func isFound(q *listQuery, spec filterSpec, operator, text string) bool {
	told, empty := q.told, q.empty
	_, err := spec.find(q, operator, []string{text})
	q.told, q.empty = told, empty
	return err == nil
}

// unset makes a condition of words for no value or for any, such as none and nobody,
// unless something is called so.
func unset(q *listQuery, spec filterSpec, c condition) condition {
	if len(c.values) != 1 || c.operator != "=" && c.operator != "!" || !slices.Contains(spec.kind.operators(), "!*") {
		return c
	}
	word := strings.ToLower(c.values[0])
	no := slices.Contains(noValue, word)
	if !no && !slices.Contains([]string{"any", "anybody", "anyone"}, word) {
		return c
	}
	switch {
	case isName(q, spec, c.operator, c.values[0]):
		return c
	case no == (c.operator == "="):
		return condition{c.name, "!*", nil}
	}
	return condition{c.name, "*", nil}
}
