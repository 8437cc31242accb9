package toolsearch

import (
	"iter"

	"github.com/toolpost/toolpost"
)

var NewIndex = newIndex

// All is [Search] of an index that is there.
func (x *index) All(query string, most int) iter.Seq2[*toolpost.Tool, float64] {
	return func(yield func(*toolpost.Tool, float64) bool) {
		for _, h := range x.search(query, most) {
			if !yield(h.tool, h.score) {
				return
			}
		}
	}
}
