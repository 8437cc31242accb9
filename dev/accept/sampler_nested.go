package accept

import (
	"fmt"
	"slices"
	"strings"
)

func (d *drawing) array(flat []*value, depth int) *value {
	wanted, needed := contained(flat)
	least, n := lengthOf(d, flat, needed, depth)
	if n < least || n > 10_000 {
		return nil
	}
	unique := slices.ContainsFunc(flat, func(v *value) bool { u := v.get("uniqueItems"); return u != nil && u.truth })
	v := newArray()
	for i := range n {
		all := element(flat, i)
		if i >= n-needed {
			all = append(all, wanted...)
		}
		item := distinctItem(d, all, v, unique, depth)
		switch {
		case item != nil:
			v.items = append(v.items, item)
		case i < max(least, needed):
			return nil
		default:
			return v
		}
	}
	return v
}

// lengthOf draws the length of an array, and returns the least it may be.
func lengthOf(d *drawing, flat []*value, needed, depth int) (least, n int) {
	least, most := count(flat, "minItems", "maxItems")
	fixed, ended := tuple(flat)
	if ended && (most < 0 || most > fixed) {
		most = fixed
	}
	n = least
	if !d.thrifty(depth) {
		n += d.rng.IntN(4)
		if fixed > 0 && d.chance(80) {
			n = max(least, fixed)
		}
	}
	n = max(n, needed)
	if most >= 0 {
		n = min(n, most)
	}
	return least, n
}

// distinctItem draws one that is not in the array yet, if it has to be unique.
func distinctItem(d *drawing, all []*value, others *value, unique bool, depth int) *value {
	for range 6 {
		item := d.value(all, depth+1)
		if item == nil || !unique {
			return item
		}
		if !slices.ContainsFunc(others.items, func(o *value) bool { return string(o.raw()) == string(item.raw()) }) {
			return item
		}
	}
	return nil
}

// tuple returns the number of fixed items, and whether there may be no others.
func tuple(flat []*value) (fixed int, ended bool) {
	for _, v := range flat {
		list, rest := v.get("prefixItems"), v.get("items")
		if rest != nil && rest.kind == array {
			list, rest = rest, v.get("additionalItems")
		}
		fixed = max(fixed, len(list.list()))
		ended = ended || rest != nil && rest.kind == boolean && !rest.truth
	}
	return fixed, ended
}

// element returns the schemas of the item at i.
func element(flat []*value, i int) []*value {
	var all []*value
	for _, v := range flat {
		list, rest := v.get("prefixItems"), v.get("items")
		if rest != nil && rest.kind == array {
			list, rest = rest, v.get("additionalItems")
		}
		switch {
		case i < len(list.list()):
			all = append(all, list.items[i])
		case rest != nil:
			all = append(all, rest)
		}
	}
	return all
}

// contained returns what contains asks for, and how often.
func contained(flat []*value) (all []*value, times int) {
	for _, v := range flat {
		if c := v.get("contains"); c != nil {
			all = append(all, c)
			times = max(times, 1)
			if n, ok := whole(v.get("minContains")); ok {
				times = max(times, n)
			}
		}
	}
	return all, times
}

func (d *drawing) object(flat []*value, depth int) *value {
	least, most := count(flat, "minProperties", "maxProperties")
	names, optional := chosen(d, flat, depth)
	if most >= 0 {
		for len(names) > most && len(optional) > 0 {
			gone := optional[len(optional)-1]
			optional = optional[:len(optional)-1]
			names = slices.DeleteFunc(names, func(n string) bool { return n == gone })
		}
	}
	v := newObject()
	for _, name := range names {
		if item := d.value(ofProperty(flat, name), depth+1); item != nil {
			v.members = append(v.members, member{name, item})
		} else if !slices.Contains(optional, name) {
			return nil
		}
	}
	if d.takesMore(flat) {
		addMore(d, v, flat, least, most, depth)
	}
	return v
}

// chosen lists named properties: all that are required, and some of the
// others, in the order of the schema.
func chosen(d *drawing, flat []*value, depth int) (names, optional []string) {
	share := []int{70, 70, 50, 40, 30}[min(depth, 4)]
	if least, _ := count(flat, "minProperties", "maxProperties"); least > 0 {
		share = 90
	}
	required, must := allRequired(flat)
	listed := map[string]bool{}
	for _, m := range allProperties(flat) {
		never := m.value.kind == boolean && !m.value.truth
		switch {
		case listed[m.name]:
			continue
		case must[m.name]:
			names = append(names, m.name)
		case !never && !d.thrifty(depth) && d.chance(share):
			names, optional = append(names, m.name), append(optional, m.name)
		}
		listed[m.name] = true
	}
	for _, name := range required {
		if !listed[name] {
			listed[name] = true
			names = append(names, name)
		}
	}
	return dependents(flat, names), optional
}

func allRequired(flat []*value) (names []string, set map[string]bool) {
	set = map[string]bool{}
	for _, v := range flat {
		for _, name := range v.required() {
			names, set[name] = append(names, name), true
		}
	}
	return names, set
}

func allProperties(flat []*value) []member {
	var all []member
	for _, v := range flat {
		all = append(all, v.properties()...)
	}
	return all
}

// dependents adds what the presence of others requires.
func dependents(flat []*value, names []string) []string {
	for i := 0; i < len(names); i++ {
		for _, v := range flat {
			for _, key := range []string{"dependentRequired", "dependencies"} {
				wanted, _ := v.get(key).get(names[i]).texts()
				for _, name := range wanted {
					if !slices.Contains(names, name) {
						names = append(names, name)
					}
				}
			}
		}
	}
	return names
}

// ofProperty returns the schemas of a property.
func ofProperty(flat []*value, name string) []*value {
	var all []*value
	for _, v := range flat {
		matched := false
		if s := v.get("properties").get(name); s != nil {
			all, matched = append(all, s), true
		}
		if patterns := v.get("patternProperties"); patterns.isObject() {
			for _, m := range patterns.members {
				if re, err := compilePattern(m.name); err == nil && re.MatchString(name) {
					all, matched = append(all, m.value), true
				}
			}
		}
		if s := v.get("additionalProperties"); s != nil && !matched {
			all = append(all, s)
		}
	}
	return all
}

// takesMore reports whether to add properties that the schema does not name.
func (d *drawing) takesMore(flat []*value) bool {
	open, some := d.Undeclared && d.chance(50), false
	for _, v := range flat {
		a := v.get("additionalProperties")
		switch {
		case v.get("patternProperties") != nil:
			open = true
		case a != nil && a.kind == boolean && !a.truth:
			return false
		case a != nil:
			open = true
		}
		some = some || len(v.properties()) > 0
	}
	return open || !some
}

func addMore(d *drawing, v *value, flat []*value, least, most, depth int) {
	n := max(least, len(v.members))
	if !d.thrifty(depth) {
		n = max(n, len(v.members)+d.rng.IntN(3))
	}
	if most >= 0 {
		n = min(n, most)
	}
	for i := 0; len(v.members) < n && i < 4*n; i++ {
		name := newKey(d, flat, i, depth)
		if name == nil || v.get(name.text) != nil {
			continue
		}
		if item := d.value(ofProperty(flat, name.text), depth+1); item != nil {
			v.members = append(v.members, member{name.text, item})
		}
	}
}

// newKey draws the name of a property that is not in the schema.
func newKey(d *drawing, flat []*value, i, depth int) *value {
	var rules []*value
	for _, v := range flat {
		if p := v.get("propertyNames"); p != nil {
			rules = append(rules, p)
		}
		if patterns := v.get("patternProperties"); patterns.isObject() && len(patterns.members) > 0 && d.chance(60) {
			pick := patterns.members[d.rng.IntN(len(patterns.members))].name
			rules = append(rules, newObject(member{"pattern", newText(pick)}))
		}
	}
	if len(rules) > 0 {
		return d.value(append(rules, newObject(member{"type", newText("string")})), depth+1)
	}
	if len(d.names) > 0 && d.chance(40) {
		return newText(d.names[d.rng.IntN(len(d.names))])
	}
	all := strings.Fields("key other X-Header item0 type properties $ref a/b~c 名 " + fmt.Sprintf("k%d", i))
	return newText(all[d.rng.IntN(len(all))])
}
