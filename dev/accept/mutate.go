package accept

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
)

// Mutate changes one or two places of a value the way models err: another
// type, a member too many or too few, another case, a value in a list or out
// of it. Text that is not JSON is returned unchanged.
func Mutate(rng *rand.Rand, instance json.RawMessage) json.RawMessage {
	root, err := parse(instance)
	if err != nil {
		return instance
	}
	for range 1 + rng.IntN(2) {
		all := everything(root, nil)
		v := all[rng.IntN(len(all))]
		*v = *mutated(rng, v)
	}
	return root.raw()
}

func everything(v *value, all []*value) []*value {
	all = append(all, v)
	for _, i := range v.items {
		all = everything(i, all)
	}
	for _, m := range v.members {
		all = everything(m.value, all)
	}
	return all
}

func mutated(rng *rand.Rand, v *value) *value {
	same := *v
	switch rng.IntN(8) {
	case 0:
		return &value{}
	case 1:
		return newArray(&same)
	case 2:
		return newText(string(v.raw())) // encoded once more
	case 3:
		return newObject(member{"value", &same})
	}
	switch v.kind {
	case text:
		return mutatedText(rng, v)
	case number:
		return pick(rng, literal("0"), literal("-1"), literal("1e30"), literal("0.5"), literal("9007199254740993"), newText(v.text), literal("-"+strings.TrimPrefix(v.text, "-")))
	case array:
		return mutatedArray(rng, v)
	case object:
		return mutatedObject(rng, v)
	}
	return pick(rng, newBool(!v.truth), newText("true"), newNumber(1))
}

func mutatedText(rng *rand.Rand, v *value) *value {
	return pick(rng, newText(""), newText(v.text+" "), newText(strings.ToUpper(v.text)), newText(v.text+v.text+"x"),
		newNumber(5), newBool(true), newText(strings.Repeat(v.text, 50)))
}

func mutatedArray(rng *rand.Rand, v *value) *value {
	if len(v.items) == 0 {
		return newArray(newText("x"))
	}
	i := rng.IntN(len(v.items))
	switch rng.IntN(4) {
	case 0:
		return v.items[i]
	case 1:
		return newArray(append(v.list(), v.items[i])...)
	case 2:
		return newArray(append(v.items[:i:i], v.items[i+1:]...)...)
	}
	return newArray()
}

func mutatedObject(rng *rand.Rand, v *value) *value {
	members := v.members[:len(v.members):len(v.members)]
	if len(members) == 0 || rng.IntN(4) == 0 {
		return newObject(append(members, member{pick(rng, "extra", "type", ""), newNumber(1)})...)
	}
	i := rng.IntN(len(members))
	if rng.IntN(4) == 0 {
		return members[i].value
	}
	without := newObject(append(members[:i:i], members[i+1:]...)...)
	if rng.IntN(2) == 0 {
		without.members = append(without.members, member{strings.ToUpper(members[i].name), members[i].value})
	}
	return without
}
