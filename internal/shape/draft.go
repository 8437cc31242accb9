package shape

import (
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// Draft returns the draft that $schema declares, and whether it is known. Draft
// 3 is read as draft 4.
func Draft(root *jsontree.Value) (draft int, known bool) {
	k := root.Get("$schema")
	if k == nil {
		return 2020, true
	}
	_, name, _ := strings.Cut(strings.TrimRight(k.Text, "#"), "://json-schema.org/")
	draft, known = map[string]int{
		"draft-03/schema": 4, "draft-04/schema": 4, "draft-06/schema": 6, "draft-07/schema": 7,
		"draft/2019-09/schema": 2019, "draft/2020-12/schema": 2020, "schema": 2020,
	}[name]
	if !known {
		draft = 2020
	}
	return draft, known
}
