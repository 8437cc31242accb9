package schema

import (
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// kept is what a document keeps for its form, and validation does without.
// The methods of nil do nothing.
type kept struct {
	changes []Change
	names   map[*jsontree.Value]string // of keywords that were renamed, as the source has them
	cut     map[*jsontree.Value]string // schemas that lost a reference to themselves, and why
	blind   bool                       // a reference leads nowhere: what is not evaluated cannot be told
}

// loadKept reads a schema for its form: annotations and patterns stay.
func loadKept(raw []byte) *document {
	return loadInto(&document{kept: &kept{names: map[*jsontree.Value]string{}, cut: map[*jsontree.Value]string{}}}, raw)
}

func (k *kept) change(at, keyword string, lost bool, detail string) {
	if k != nil {
		k.changes = append(k.changes, Change{at, keyword, lost, detail})
	}
}

// moved notes that what stands at a pointer, outside of f, is merged into f.
func (k *kept) moved(at string, f *Form) {
	inside := func(f *Form) bool {
		below, ok := strings.CutPrefix(at, f.At)
		return ok && (below == "" || below[0] == '/') && !strings.HasPrefix(below, "/$defs/") && !strings.HasPrefix(below, "/definitions/")
	}
	if inside(f) || f.Alts != nil && slices.ContainsFunc(f.Alts.Forms, inside) {
		return
	}
	i := strings.LastIndexByte(at, '/')
	k.change(at[:i], jsontree.UnescapePointer(at[i+1:]), false, "merged with the schema that refers to it")
}

// least reads a minimum count, of which 0 says nothing.
func (k *kept) least(at string, v *jsontree.Value) int {
	n := countOf(v)
	if n == 0 {
		k.change(at, v.Name, false, nothing)
	}
	return n
}

// most reads an upper count, below 0 if no value reaches it.
func (k *kept) most(at string, v *jsontree.Value) int {
	n := countOf(v)
	if n == largest {
		k.change(at, v.Name, false, nothing)
		return -1
	}
	return n
}

// mark and undo take back the changes of what came to nothing.
func (k *kept) mark() int {
	if k == nil {
		return 0
	}
	return len(k.changes)
}

func (k *kept) undo(mark int) {
	if k != nil {
		k.changes = k.changes[:mark]
	}
}

// rename gives a keyword the name of a later draft.
func (k *kept) rename(holder, v *jsontree.Value, name string) {
	if k != nil {
		k.names[v] = v.Name
	}
	holder.Rename(v, name)
}

// sourceName returns the name of a keyword or member as the source has it.
func (k *kept) sourceName(v *jsontree.Value) string {
	if k != nil {
		if name, renamed := k.names[v]; renamed {
			return name
		}
	}
	return v.Name
}
