package schema

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// An index knows the names that references may use: ids, anchors, and the
// base that a relative reference starts from.
type index struct {
	draft   int
	base    map[*value]*url.URL
	order   []*value            // those that have a base
	named   map[string]*value   // by URI, an anchor as its fragment
	dynamic map[string][]*value // by dynamic anchor; recursive ones are "#"
}

// schemaURL is the base of references in a schema without an id. Nothing is loaded
// from there, or from anywhere.
const schemaURL = "mem:///schema.json"

func newIndex(d *document) *index {
	x := &index{draft: d.draft, base: map[*value]*url.URL{}, named: map[string]*value{}, dynamic: map[string][]*value{}}
	base, _ := url.Parse(schemaURL)
	x.named[schemaURL] = d.root
	x.add(d.root, base)
	return x
}

// add enters v and all schemas below it.
func (x *index) add(v *value, base *url.URL) {
	if x.base[v] != nil {
		return
	}
	if id := v.get("$id"); id != nil && (x.draft >= 2019 || v.get("$ref") == nil) {
		if u, err := base.Parse(id.text); err == nil {
			x.name(u, u.Fragment, v)
			if u.Fragment == "" {
				base = u
			}
		}
	}
	x.base[v], x.order = base, append(x.order, v)
	x.anchors(v, base)
	for _, k := range v.kids {
		for _, sub := range subschemas(k) {
			x.add(sub, base)
		}
	}
}

func (x *index) anchors(v *value, base *url.URL) {
	for _, keyword := range []string{"$anchor", "$dynamicAnchor"} {
		if a := v.get(keyword); a != nil && x.draft >= 2019 {
			x.name(base, a.text, v)
			if keyword == "$dynamicAnchor" {
				x.dynamic[a.text] = append(x.dynamic[a.text], v)
			}
		}
	}
	if a := v.get("$recursiveAnchor"); a != nil && a.is("true") {
		x.dynamic["#"] = append(x.dynamic["#"], v)
	}
}

func (x *index) name(base *url.URL, fragment string, v *value) {
	if key := withFragment(base, fragment); x.named[key] == nil {
		x.named[key] = v
	}
}

func withFragment(u *url.URL, fragment string) string {
	c := *u
	c.Fragment, c.RawFragment = fragment, ""
	return c.String()
}

// find returns the schema that a reference in v leads to, nil if there is none.
func (x *index) find(v *value, ref string) *value {
	base := x.base[v]
	if base == nil { // v is where no keyword looks for schemas
		base, _ = url.Parse(schemaURL)
	}
	u, err := base.Parse(ref)
	if err != nil {
		return nil
	}
	if target := x.named[withFragment(u, u.Fragment)]; target != nil {
		return target
	}
	resource := x.named[withFragment(u, "")]
	if resource == nil || !strings.HasPrefix(u.Fragment, "/") {
		return nil
	}
	if target := resource.at(u.Fragment); target != nil && isSchema(target) {
		return target
	}
	return nil
}

// resolve finds the target of a reference. A reference to nowhere is removed and
// reported.
func (d *document) resolve(r reference, x *index) *value {
	ref := r.schema.get("$ref").text
	if target := x.find(r.schema, ref); target != nil {
		d.refs[r.schema] = target
		return target
	}
	d.dropRef(r.schema)
	if d.kept != nil {
		d.kept.blind = true
	}
	why := "is not in the schema"
	if !strings.HasPrefix(ref, "#") {
		why = "is outside the schema, and is not fetched"
	}
	why = fmt.Sprintf("%.100q %s; what it refers to is not checked", ref, why)
	d.report(r.pointer+"/$ref", why)
	d.kept.change(r.pointer, "$ref", true, why)
	return nil
}

// resolveDynamic notes all schemas that $dynamicRef and $recursiveRef may lead to.
func (d *document) resolveDynamic(x *index) {
	for _, v := range x.order {
		var all []*value
		if k := v.get("$dynamicRef"); k != nil && d.draft >= 2020 {
			_, anchor, _ := strings.Cut(k.text, "#")
			all = x.dynamic[anchor]
			if target := x.find(v, k.text); target != nil {
				all = append(all[:len(all):len(all)], target)
			}
		}
		if k := v.get("$recursiveRef"); k != nil && d.draft == 2019 {
			all = append(all[:len(all):len(all)], x.dynamic["#"]...)
			if target := x.find(v, k.text); target != nil {
				all = append(all, target)
			}
		}
		if len(all) > 0 {
			d.dynamic[v] = all
		}
		if d.kept == nil && d.target(v) == nil && d.refers(v) {
			d.report("", fmt.Sprintf("what %.100q refers to is not one schema of this document; it is not checked", refText(v)))
			d.dropRef(v)
		}
	}
}

// refers reports whether v has a reference that its draft knows.
func (d *document) refers(v *value) bool {
	return d.draft >= 2020 && v.get("$dynamicRef") != nil || d.draft == 2019 && v.get("$recursiveRef") != nil
}

// target returns the one schema that v refers to, nil if there is none or it
// depends on the place where v is used.
func (d *document) target(v *value) *value {
	all := d.targets(v)
	if len(all) == 0 || slices.ContainsFunc(all, func(t *value) bool { return t != all[0] }) {
		return nil
	}
	return all[0]
}

// dropRef removes the references that a schema holds.
func (d *document) dropRef(v *value) {
	d.partial[v] = true
	delete(d.refs, v)
	delete(d.dynamic, v)
	v.drop("$ref")
	v.drop("$dynamicRef")
	v.drop("$recursiveRef")
}

// targets returns the schemas that v refers to.
func (d *document) targets(v *value) []*value {
	all := d.dynamic[v]
	if target := d.refs[v]; target != nil {
		all = append(all[:len(all):len(all)], target)
	}
	return all
}
