package invariants_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"
)

const head = "<!-- Written by make invariants. -->\n\n# What lowering keeps\n\n" + `A schema is lowered for a client that accepts less, and the arguments that the client sends are decoded back. The package [dev/invariants](../../dev/invariants) checks this with %d schemas: those of %d tools of real servers, %d of generators, of public reports and of tools that are odd in one way each, and %d random ones, half of them with alternatives that overlap. Whether a value is valid, and whether a client accepts a schema, is decided by [dev/accept](../../dev/accept), which shares no code with what is tested.

` + "`make invariants DRAWS=%d`" + ` wrote the figures, in %s. It draws %d values of each lowered schema, as many of each original, and as many that are changed in one or two places. Dialects for which a schema comes out the same share its values.

The normal form keeps as it is written what no schema of a real server uses: ` + "`unevaluatedProperties`" + ` beside ` + "`allOf`" + ` and references, rules beside alternatives that have rules of the same kind, two schemas in ` + "`allOf`" + ` for the items of one array or with different patterns, and alternatives of which one contains another. Clients that do not support these keywords find them described instead: in the tools "closed and unevaluated" and "union: with siblings", and in about one of 20 random schemas. Alternatives that are written alike are distinguished by their members; where they differ only inside lists, or in members that are not declared, the report says that values are lost.

- **accepted**: schemas that are lowered so that their client accepts them. The others are rejected, because no object is valid for them.
- **exact**: schemas that lose nothing. Only their notation may have changed.
- **read**: values of the lowered schema, decoded. *Sound*: the original accepts them. *Reported*: the original does not accept them, and the report has a loss for the keyword that rejects them; the call reports it to the model. *Unreported*: nothing explains it.
- **written**: values of the original, encoded for the client. *Same*: the lowered schema accepts them, and they decode to what they were. *Reported*: they cannot be written, and the report says that values are lost. *Unreported*: nothing explains it. Values with undeclared members do not count where the report says that such members cannot be written.
- **agree**: values, most of them wrong in some way, on which an exact schema and its original agree.
- **again**: schemas that do not change when they are lowered again. The others accept the same values, as far as the same number of draws can show, and become shorter, mostly because alternatives become a list of types.

| dialect | accepted | exact | read: sound | reported | unreported | written: same | reported | unreported | agree | differ | again |
|---|---|---|---|---|---|---|---|---|---|---|---|
`

// page writes the figures.
func (r *run) page(took time.Duration) []byte {
	classes := corpus()
	var b bytes.Buffer
	fmt.Fprintf(&b, head, len(items()), len(classes[0].items), len(classes[1].items), len(classes[2].items), r.draws, took.Round(time.Second), r.draws)
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
