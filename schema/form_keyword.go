package schema

import (
	"encoding/json"
	"strconv"
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

// parts has the keywords that are not notes.
var parts = map[string]part{
	"$schema": partQuiet, "$id": partQuiet, "$anchor": partQuiet, "$comment": partQuiet, "$vocabulary": partQuiet,
	"$defs": partQuiet, "definitions": partQuiet, "$dynamicAnchor": partQuiet, "$recursiveAnchor": partQuiet,
	"type": partType, "enum": partType, "const": partType, "format": partType,
	"minimum": partNumber, "maximum": partNumber, "exclusiveMinimum": partNumber, "exclusiveMaximum": partNumber, "multipleOf": partNumber,
	"minLength": partText, "maxLength": partText, "pattern": partText,
	"contentEncoding": partText, "contentMediaType": partText, "contentSchema": partText,
	"prefixItems": partArray, "items": partArray, "additionalItems": partArray,
	"minItems": partArray, "maxItems": partArray, "uniqueItems": partArray,
	"properties": partObject, "required": partLater, "additionalProperties": partObject,
	"minProperties": partObject, "maxProperties": partObject,
	"$ref": partPlace, "$dynamicRef": partPlace, "$recursiveRef": partPlace, "allOf": partPlace, "anyOf": partPlace, "oneOf": partPlace,
	"propertyNames": partLater, "unevaluatedProperties": partLater,
	"not": partRest, "if": partRest, "then": partRest, "else": partRest,
	"contains": partRest, "minContains": partRest, "maxContains": partRest, "unevaluatedItems": partRest,
	"patternProperties": partRest, "dependencies": partRest, "dependentSchemas": partRest, "dependentRequired": partRest,
}

// keyword reads what k, a member of the schema v, says about the same value.
func (r *formReader) keyword(f *Form, v, k *value) {
	switch parts[k.name] {
	case partNote:
		r.note(f, k)
	case partQuiet:
		r.change(f.At, k.name, false, "read where it is needed")
	case partType:
		r.typed(f, v, k)
	case partNumber:
		r.number(f, k)
	case partText:
		r.text(f, k)
	case partArray:
		r.items(f, v, k)
	case partObject:
		r.members(f, v, k)
	case partRest:
		r.other(f, v, k)
	}
}

// note reads an annotation.
func (r *formReader) note(f *Form, k *value) {
	n := &f.Notes
	switch {
	case k.name == "title" && k.kind == KindString:
		n.Title = k.text
	case k.name == "description" && k.kind == KindString:
		n.Description = k.text
	case k.name == "default":
		n.Default = raw(k)
	case k.name == "examples" && k.kind == KindArray:
		for _, kid := range k.kids {
			n.Examples = append(n.Examples, raw(kid))
		}
	case k.name == "example":
		n.Examples = append(n.Examples, raw(k))
	case k.name == "id" && r.doc.draft == 4 && k.kind == KindString:
		r.change(f.At, k.name, false, "read where it is needed")
	default:
		n.Others = append(n.Others, Keyword{f.At, k.name, raw(k)})
	}
}

// typed reads the keywords that say which values there are.
func (r *formReader) typed(f *Form, v, k *value) {
	switch k.name {
	case "type":
		f.Kinds &= typeKinds(k)
	case "enum":
		r.enum(f, k, k.kids)
	case "const":
		r.enum(f, k, []*value{k})
	case "format":
		r.format(f, v, k)
	}
}

// format notes the format of strings, or that of numbers.
func (r *formReader) format(f *Form, v, k *value) {
	kinds := KindAny
	if t := v.get("type"); t != nil {
		kinds = typeKinds(t)
	}
	switch {
	case k.kind != KindString || kinds&(KindString|KindNumber) == 0:
		f.Notes.Others = append(f.Notes.Others, Keyword{f.At, k.name, raw(k)})
	case kinds&KindString == 0 || kinds&KindNumber != 0 && numeric[k.text]:
		f.numbers().Format = k.text
	default:
		f.texts().Format = k.text
	}
}

// numeric has the formats of numbers.
var numeric = map[string]bool{
	"int8": true, "int16": true, "int32": true, "int64": true, "uint8": true, "uint16": true, "uint32": true, "uint64": true,
	"float": true, "double": true, "decimal": true,
}

func (r *formReader) number(f *Form, k *value) {
	n, number := f.numbers(), json.Number(k.raw)
	switch k.name {
	case "minimum":
		n.Minimum = number
	case "maximum":
		n.Maximum = number
	case "exclusiveMinimum":
		n.ExclusiveMinimum = number
	case "exclusiveMaximum":
		n.ExclusiveMaximum = number
	case "multipleOf":
		if parseDecimal(k.raw) == (decimal{coef: 1}) {
			f.Kinds &^= KindFraction
			r.change(f.At, k.name, false, "the same as type integer")
			return
		}
		n.MultipleOf = number
	}
}

func (r *formReader) text(f *Form, k *value) {
	t := f.texts()
	switch k.name {
	case "minLength":
		t.MinLength = r.least(f, k)
	case "maxLength":
		t.MaxLength = countOf(k)
	case "pattern":
		t.Pattern = k.text
		if k.text == "" {
			r.change(f.At, k.name, false, "it says nothing")
		}
	default:
		t.Content = append(t.Content, Keyword{f.At, k.name, raw(k)})
	}
}

// least reads a minimum count, of which 0 says nothing.
func (r *formReader) least(f *Form, k *value) int {
	n := countOf(k)
	if n == 0 {
		r.change(f.At, k.name, false, "it says nothing")
	}
	return n
}

// numbers returns the rules on numbers, made if need be; likewise the next ones.
func (f *Form) numbers() *NumberForm {
	if f.Number == nil {
		f.Number = &NumberForm{}
	}
	return f.Number
}

func (f *Form) texts() *TextForm {
	if f.Text == nil {
		f.Text = &TextForm{MaxLength: -1}
	}
	return f.Text
}

func (f *Form) arrays() *ArrayForm {
	if f.Array == nil {
		f.Array = &ArrayForm{MaxItems: -1}
	}
	return f.Array
}

func (f *Form) objects() *ObjectForm {
	if f.Object == nil {
		f.Object = &ObjectForm{MaxProperties: -1}
	}
	return f.Object
}

// child returns the pointer of the i-th schema of a keyword.
func child(at, keyword string, i int) string {
	return at + "/" + keyword + "/" + strconv.Itoa(i)
}

// enum leaves values of f only, and of their types.
func (r *formReader) enum(f *Form, k *value, values []*value) {
	e := &EnumForm{}
	var all, out Kinds
	for _, v := range values {
		all |= v.kind
		switch {
		case f.Kinds&v.kind == 0:
			out |= v.kind
		case v.kind != KindNull:
			e.Kinds |= v.kind
			e.Values = append(e.Values, raw(v))
		}
	}
	switch {
	case out != 0:
		r.change(f.At, k.name, false, "values that the type excludes are left out: those that are "+out.String())
	case all == KindNull:
		r.change(f.At, k.name, false, "the same as type null")
	case all == 0:
		r.change(f.At, k.name, false, "nothing fits")
	}
	f.Kinds &= all
	if e.Kinds == 0 {
		e = nil
	}
	if f.Enum != nil { // enum beside const
		e = r.bothEnums(f, f.Enum, e)
	}
	f.Enum = e
	f.booleans()
}
