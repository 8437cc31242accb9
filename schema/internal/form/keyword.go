package form

import (
	"encoding/json"
	"strconv"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// A part is what a keyword is about.
type part int

const (
	partNote  part = iota // an annotation, or nothing known
	partQuiet             // for references and tools, said in another way
	partType
	partNumber
	partText
	partArray
	partObject
	partPlace // schemas for the same value
	partLater // about the rules of the others
	partRest  // kept as it is written
)

// parts has the keywords that are neither notes, nor names of schemas, nor about
// one type only.
var parts = map[string]part{
	"type": partType, "enum": partType, "const": partType, "format": partType,
	"$ref": partPlace, "$dynamicRef": partPlace, "$recursiveRef": partPlace, "allOf": partPlace, "anyOf": partPlace, "oneOf": partPlace,
	"required": partLater, "propertyNames": partLater, "unevaluatedProperties": partLater, "unevaluatedItems": partLater,
	"not": partRest, "if": partRest, "then": partRest, "else": partRest,
	"contains": partRest, "minContains": partRest, "maxContains": partRest,
	"patternProperties": partRest, "dependencies": partRest, "dependentSchemas": partRest, "dependentRequired": partRest,
}

// partOf returns what a keyword is about.
func partOf(keyword string) part {
	if p, ok := parts[keyword]; ok {
		return p
	}
	if shape.Identifies(keyword) {
		return partQuiet
	}
	return map[jsontree.Kinds]part{
		jsontree.KindNumber: partNumber, jsontree.KindString: partText, jsontree.KindArray: partArray, jsontree.KindObject: partObject,
	}[shape.About(keyword)]
}

// nothing is what changes say of keywords that every value fits.
const nothing = "it has no effect"

// A keywordReader reads what the keywords of v say, each by itself, into f.
type keywordReader struct {
	*formReader
	f *Form
	v *jsontree.Value
}

// read reads one keyword.
func (w *keywordReader) read(k *jsontree.Value) {
	switch partOf(k.Name) {
	case partNote:
		w.note(k)
	case partQuiet:
		w.log.Change(w.f.At, k.Name, false, "it is read where it is needed")
	case partType:
		w.assertion(k)
	case partNumber:
		w.number(k)
	case partText:
		w.text(k)
	case partArray:
		w.items(k)
	case partObject:
		w.members(k)
	case partRest:
		w.otherKeyword(k)
	}
}

// note reads an annotation.
func (w *keywordReader) note(k *jsontree.Value) {
	n := &w.f.Notes
	name := k.Name
	switch {
	case (name == "title" || name == "description") && k.Kind != jsontree.KindString, name == "examples" && k.Kind != jsontree.KindArray:
		name = ""
	case name == "id" && w.doc.Draft == 4:
		w.log.Change(w.f.At, name, false, "it is read where it is needed")
		return
	}
	switch name {
	case "title":
		n.Title = k.Text
	case "description":
		n.Description = k.Text
	case "default":
		n.Default = raw(k)
	case "examples":
		n.Examples = append(n.Examples, raws(k.Kids)...)
	case "example":
		n.Examples = append(n.Examples, raw(k))
	default:
		n.Others = append(n.Others, Keyword{w.f.At, k.Name, raw(k)})
	}
}

// assertion reads the keywords that determine which values match.
func (w *keywordReader) assertion(k *jsontree.Value) {
	switch k.Name {
	case "type":
		w.f.Kinds &= jsontree.KindsNamed(k)
	case "enum":
		w.enum(k.Kids)
	case "const":
		w.enum([]*jsontree.Value{k})
	case "format":
		w.format(k)
	}
}

// format notes the format of strings, or that of numbers.
func (w *keywordReader) format(k *jsontree.Value) {
	kinds := jsontree.KindAny
	if t := w.v.Get("type"); t != nil {
		kinds = jsontree.KindsNamed(t)
	}
	switch {
	case k.Kind != jsontree.KindString || kinds&(jsontree.KindString|jsontree.KindNumber) == 0:
		w.f.Notes.Others = append(w.f.Notes.Others, Keyword{w.f.At, k.Name, raw(k)})
	case kinds&jsontree.KindString == 0 || kinds&jsontree.KindNumber != 0 && numeric[k.Text]:
		numbersIn(w.f).Format = k.Text
	default:
		textsIn(w.f).Format = k.Text
	}
}

// numeric has the formats of numbers.
var numeric = map[string]bool{
	"int8": true, "int16": true, "int32": true, "int64": true, "uint8": true, "uint16": true, "uint32": true, "uint64": true,
	"float": true, "double": true, "decimal": true,
}

func (w *keywordReader) number(k *jsontree.Value) {
	n, number := numbersIn(w.f), json.Number(k.Raw)
	switch k.Name {
	case "minimum":
		n.Minimum = number
	case "maximum":
		n.Maximum = number
	case "exclusiveMinimum":
		n.ExclusiveMinimum = number
	case "exclusiveMaximum":
		n.ExclusiveMaximum = number
	case "multipleOf":
		if jsontree.ParseDecimal(k.Raw) == (jsontree.Decimal{Coef: 1}) {
			w.f.Kinds &^= jsontree.KindFraction
			w.log.Change(w.f.At, k.Name, false, "the same as type integer")
			return
		}
		n.MultipleOf = number
	}
}

func (w *keywordReader) text(k *jsontree.Value) {
	t := textsIn(w.f)
	switch k.Name {
	case "minLength":
		t.MinLength = w.least(k)
	case "maxLength":
		t.MaxLength = w.most(k)
	case "pattern":
		t.Pattern = k.Text
		if k.Text == "" {
			w.log.Change(w.f.At, k.Name, false, nothing)
		}
	default:
		t.Content = append(t.Content, Keyword{w.f.At, k.Name, raw(k)})
	}
}

// least reads a minimum count, of which 0 has no effect.
func (w *keywordReader) least(k *jsontree.Value) int {
	n := jsontree.ParseDecimal(k.Raw).Count()
	if n == 0 {
		w.log.Change(w.f.At, k.Name, false, nothing)
	}
	return n
}

// most reads an upper count, below 0 if no value reaches it.
func (w *keywordReader) most(k *jsontree.Value) int {
	n := jsontree.ParseDecimal(k.Raw).Count()
	if n == jsontree.MaxCount {
		w.log.Change(w.f.At, k.Name, false, nothing)
		return -1
	}
	return n
}

// enum leaves those of values that the types of f allow.
func (w *keywordReader) enum(values []*jsontree.Value) {
	e := &Enum{}
	var all jsontree.Kinds
	for _, v := range values {
		all |= v.Kind
		if v.Kind != jsontree.KindNull {
			e.Kinds |= v.Kind
			e.Values = append(e.Values, raw(v))
		}
	}
	w.f.Kinds &= all
	if e.Kinds == 0 {
		e = nil
	}
	mergeEnums(w.f, w.f.Enum, e) // enum beside const
	if w.f.Enum != nil {
		w.f.Enum = w.f.Enum.withoutBooleans()
	}
}

// numbersIn returns the rules of f on numbers. It makes them if f has none.
func numbersIn(f *Form) *Number {
	if f.Number == nil {
		f.Number = &Number{}
	}
	return f.Number
}

// textsIn returns the rules of f on texts. It makes them if f has none.
func textsIn(f *Form) *Text {
	if f.Text == nil {
		f.Text = &Text{MaxLength: -1}
	}
	return f.Text
}

// arraysIn returns the rules of f on arrays. It makes them if f has none.
func arraysIn(f *Form) *Array {
	if f.Array == nil {
		f.Array = &Array{MaxItems: -1}
	}
	return f.Array
}

// objectsIn returns the rules of f on objects. It makes them if f has none.
func objectsIn(f *Form) *Object {
	if f.Object == nil {
		f.Object = &Object{MaxProperties: -1}
	}
	return f.Object
}

// child returns the pointer of the i-th schema of a keyword.
func child(at, keyword string, i int) string {
	return at + "/" + keyword + "/" + strconv.Itoa(i)
}
