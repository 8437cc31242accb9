package schema

// kept is what a document keeps for its form, and validation does without.
type kept struct {
	changes []Change
	names   map[*value]string // of keywords that were renamed, as the source has them
	cut     map[*value]string // schemas that lost a reference to themselves, and why
	blind   bool              // a reference leads nowhere: what is not evaluated cannot be told
}

// loadKept reads a schema for its form: annotations and patterns stay.
func loadKept(raw []byte) *document {
	return loadInto(&document{kept: &kept{names: map[*value]string{}, cut: map[*value]string{}}}, raw)
}

func (d *document) change(at, keyword string, lost bool, detail string) {
	if d.kept != nil {
		d.kept.changes = append(d.kept.changes, Change{at, keyword, lost, detail})
	}
}

// rename gives a keyword the name of a later draft.
func (d *document) rename(k *value, name string) {
	if d.kept != nil {
		d.kept.names[k] = k.name
	}
	k.name = name
}

// sourceName returns the name of a keyword or member as the source has it.
func (d *document) sourceName(k *value) string {
	if d.kept != nil {
		if name := d.kept.names[k]; name != "" {
			return name
		}
	}
	return k.name
}
