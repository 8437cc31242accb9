package invariants_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"
)

const head = "<!-- Written by make invariants. -->\n\n# What lowering keeps\n\n" + `A schema is lowered for a reader that accepts less, and what the reader writes is turned back. The package [internal/invariants](../internal/invariants) holds that against %d schemas: those of %d tools of real servers, %d of generators, of public reports and of tools that are odd in one way each, and %d random ones. Whether a value is valid, and whether a reader accepts a schema, is told by [internal/accept](../internal/accept), which shares no code with what is tested.

The figures are of ` + "`make invariants DRAWS=%d`" + `: %d values are drawn of each lowered schema, as many of each original, and as many that are changed in one or two places. Dialects for which a schema comes out the same share its values. %s passed.

- **accepted**: schemas that are lowered so that their reader takes them. The others are rejected: they take no object. No rule of a reader is broken.
- **exact**: schemas of which nothing is lost but in notation.
- **read**: values of the lowered schema, turned back. *Sound*: the original takes them. *Told*: it does not, and the report has a loss for the keyword that refuses them; the call reports it to the model. *Not told*: none.
- **written**: values of the original, written for the reader. *Same*: the lowered schema takes them, and they come back as they were. *Told*: they cannot be written, and the report says that values are lost. *Not told*: none.
- **agree**: values, most of them wrong in some way, about which exact schemas and their originals say the same.
- **again**: schemas that, lowered once more, are said in the same way. The others take the same values, as far as as many draws of both can tell, and are said in fewer words, mostly alternatives that became a list of types.

| dialect | accepted | exact | read: sound | told | not told | written: same | told | not told | agree | differ | again |
|---|---|---|---|---|---|---|---|---|---|---|---|
`

// page tells the figures.
func (r *run) page(took time.Duration) []byte {
	classes := corpus()
	var b bytes.Buffer
	fmt.Fprintf(&b, head, len(items()), len(classes[0].items), len(classes[1].items), len(classes[2].items), r.draws, r.draws, took.Round(time.Second))
	for _, id := range slices.Sorted(maps.Keys(r.figures)) {
		f := r.figures[id]
		again := "n/a"
		if f.again+f.anew > 0 {
			again = fmt.Sprintf("%d of %d", f.again, f.again+f.anew)
		}
		fmt.Fprintf(&b, "| `%s` | %d of %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %s |\n", id, f.schemas-f.rejected, f.schemas, f.exact,
			f.sound, f.explained, f.unexplained, f.same, f.narrowed, f.lost, f.agree, f.differ, again)
	}
	return b.Bytes()
}
