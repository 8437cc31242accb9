package anthropic

import (
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/model"
)

// serverCall returns the id of a block if it is a call that the provider runs,
// and the id of the call that it answers if it is the result of one.
func serverCall(b *jsontree.Value) (call, answers string) {
	kind := textOf(b.Get("type"))
	if partType(kind) != model.TypeOpaque || kind == "tool_result" {
		return "", ""
	}
	if strings.HasSuffix(kind, "tool_use") {
		call = textOf(b.Get("id"))
	}
	return call, textOf(b.Get("tool_use_id"))
}

// A position is a part of a conversation.
type position struct{ message, part int }

// findOrphans returns the calls that the provider runs without their results,
// and the other way around. A response that was cut off has such calls. The API
// refuses them once the user writes something else than results.
func (b *builder) findOrphans() map[position]bool {
	orphans, waiting := map[position]bool{}, map[string]position{}
	known := map[string]bool{}
	for i, m := range b.r.Messages {
		for j := range m.Parts {
			p := &m.Parts[j]
			at := position{i, j}
			if m.Role == model.RoleUser && p.Type != model.TypeResult {
				for id, call := range waiting {
					orphans[call], known[id] = true, false
				}
				clear(waiting)
			}
			if p.Type != model.TypeOpaque || !b.m.origin.Accepts(p.Origin) {
				continue
			}
			call, answers := serverCall(jsontree.Read(p.Raw))
			if call != "" {
				waiting[call], known[call] = at, true
			}
			if answers != "" && !known[answers] {
				orphans[at] = true
			}
			delete(waiting, answers)
		}
	}
	return orphans
}
