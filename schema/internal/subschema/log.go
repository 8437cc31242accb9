package subschema

import (
	"github.com/toolpost/toolpost/internal/jsontree"
)

// A Log records what happens to a schema's keywords while it is read. The
// methods of nil do nothing.
type Log struct {
	Changes []Change
	Cut     map[*jsontree.Value]string // schemas that lost a reference to themselves, and why

	names map[*jsontree.Value]string // of keywords that were renamed, as the source has them
}

// A Change describes what happened to a keyword while the schema was read.
type Change struct {
	At, Keyword string
	Lost        bool // the keyword restricted values and was dropped; otherwise the meaning did not change
	Detail      string
}

// Change records a change.
func (k *Log) Change(at, keyword string, lost bool, detail string) {
	if k != nil {
		k.Changes = append(k.Changes, Change{at, keyword, lost, detail})
	}
}

// rename gives a keyword the name of a later draft.
func (k *Log) rename(holder, v *jsontree.Value, name string) {
	if k != nil {
		k.names[v] = v.Name
	}
	holder.Rename(v, name)
}

// SourceName returns the name of a keyword or member as the source has it.
func (k *Log) SourceName(v *jsontree.Value) string {
	if k != nil {
		if name, renamed := k.names[v]; renamed {
			return name
		}
	}
	return v.Name
}
