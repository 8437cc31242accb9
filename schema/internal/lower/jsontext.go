package lower

import (
	"encoding/json"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/schema/internal/form"
)

// writeText writes a schema as a string that holds JSON.
func writeText(l *lowering, f *form.Form) (*node, codec) {
	n := jsonText(l.reader, "Written as JSON text.")
	c := jsonCodec{lenient: f.Kinds&jsontree.KindString != 0}
	annotate(l, f.At, &f.Notes, n, c)
	return n, c
}

// jsonText writes the schema of a string that holds JSON.
func jsonText(r *reader, sentence string) *node {
	n := r.typeNode("string")
	n.addSentence(sentence)
	return n
}

// A jsonCodec writes a value as a string that holds JSON.
type jsonCodec struct {
	lenient bool // text that is not JSON is the string itself
}

func (c jsonCodec) decode(x *trip, dst []byte) []byte {
	src := x.value()
	s, ok := unquote(src)
	if !ok {
		return append(dst, src...) // the value itself, as it was before
	}
	if inner := trim([]byte(s)); len(inner) > 0 && json.Valid(inner) {
		return append(dst, inner...)
	}
	if c.lenient {
		x.note("the string is not JSON; it is used as it is")
	}
	return append(dst, src...)
}

func (c jsonCodec) encode(_ *trip, dst, src []byte) ([]byte, bool) {
	return appendQuoted(dst, string(src)), true
}

func (c jsonCodec) seenPath([]string) []string { return nil }
