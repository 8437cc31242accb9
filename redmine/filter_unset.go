package redmine

import (
	"slices"
	"strings"
)

// unset makes a condition of words for no value or for any, such as none and nobody,
// unless something is called so.
func unset(q *listQuery, spec filterSpec, c condition) condition {
	if len(c.values) != 1 || c.operator != "=" && c.operator != "!" || !slices.Contains(spec.kind.operators(), "!*") {
		return c
	}
	word := strings.ToLower(c.values[0])
	no := slices.Contains([]string{none, "nobody", "no one", "unassigned", "unset", "empty", "null", "nil"}, word)
	if !no && !slices.Contains([]string{"any", "anybody", "anyone"}, word) {
		return c
	}
	told, empty := q.told, q.empty
	_, err := spec.find(q, c.operator, slices.Clone(c.values))
	isName := err == nil && len(q.told) == len(told) // otherwise it is a part of a name
	q.told, q.empty = told, empty
	switch {
	case isName:
		return c
	case no == (c.operator == "="):
		return condition{c.name, "!*", nil}
	}
	return condition{c.name, "*", nil}
}
