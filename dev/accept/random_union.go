package accept

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
)

// RandomUnion writes a small input schema with alternatives that overlap:
// objects that differ in whether they take further members, lists of values
// beside free types, and names that a client writes in the same way.
func RandomUnion(rng *rand.Rand) json.RawMessage {
	a := &author{rng: rng}
	root := literal(`{"type":"object"}`)
	switch {
	case a.chance(40):
		root.set("anyOf", a.openObjects())
	default:
		union := newObject(member{"anyOf", pick(rng, (*author).openObjects, (*author).numbers, (*author).texts, (*author).arrays)(a)})
		root.set("properties", newObject(member{"x", union}))
		root.set("required", newArray(newText("x")))
	}
	return root.raw()
}

// openObjects are alternatives that take different further members.
func (a *author) openObjects() *value {
	list := newArray()
	for i := range 2 + a.rng.IntN(2) {
		o := literal(`{"type":"object"}`)
		properties := newObject(member{pick(a.rng, "a", "b", "c") + strconv.Itoa(i), a.scalar()})
		if name := pick(a.rng, "same", "@type", "type", "a b", "a_b", ""); name != "" {
			properties.set(name, a.scalar())
		}
		o.set("properties", properties)
		if a.chance(60) {
			o.set("required", newArray(newText(properties.members[0].name)))
		}
		switch a.rng.IntN(5) {
		case 0:
			o.set("additionalProperties", a.text())
		case 1:
			o.set("additionalProperties", a.number())
		case 2:
			o.set("additionalProperties", newBool(false))
		case 3:
			o.set("additionalProperties", pick(a.rng, newBool(true), newObject()))
		}
		list.items = append(list.items, o)
	}
	return list
}

// numbers are alternatives of numbers, some of them listed.
func (a *author) numbers() *value {
	return newArray(
		literal(pick(a.rng, `{"type":"number","enum":[1.5]}`, `{"type":"number","enum":[0.5,2]}`, `{"type":"integer","enum":[1,2]}`, `{"const":0.5}`)),
		pick(a.rng, a.number(), literal(`{"type":"integer"}`), literal(`{"type":"number"}`), literal(`{"enum":[7,9007199254740993]}`)))
}

// texts are alternatives of texts, some of them listed.
func (a *author) texts() *value {
	return newArray(literal(pick(a.rng, `{"enum":["a","b"]}`, `{"type":"string","const":"A"}`, `{"enum":["x",null,2]}`)), a.text(), a.scalar())
}

// arrays are alternatives of lists, with items by position and without.
func (a *author) arrays() *value {
	return newArray(a.array(2), pick(a.rng, a.array(2), literal(`{"type":"array"}`), literal(`{"type":"array","items":{}}`), literal(`{"type":"array","items":{"description":"x"}}`)))
}
