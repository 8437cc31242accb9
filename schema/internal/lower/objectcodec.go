package lower

import (
	"fmt"
	"slices"
)

// An objectCodec writes an object with other names and with members that are
// always there.
type objectCodec struct {
	properties []property
	bySeen     map[string]int
	byName     map[string]int
	rest       codec  // of undeclared members
	more       string // the property that has them, "" if there is none
	moreCodec  codec
	moreNull   bool // null is written if there are none
}

// A property is one member that an objectCodec knows.
type property struct {
	name, seen string
	quoted     []byte // the name
	token      string // seen, as it stands before the value
	codec      codec
	absent     bool // null stands for its absence
	renamed    bool
}

// finish returns c made ready, nil if it changes nothing.
func (c *objectCodec) finish() codec {
	changes := func(p property) bool { return p.codec != nil || p.absent || p.renamed }
	if c.rest == nil && c.more == "" && !slices.ContainsFunc(c.properties, changes) {
		return nil
	}
	c.bySeen, c.byName = make(map[string]int, len(c.properties)), make(map[string]int, len(c.properties))
	for i := range c.properties {
		p := &c.properties[i]
		p.quoted, p.token = quote(p.name), string(quote(p.seen))+":"
		c.bySeen[p.seen], c.byName[p.name] = i, i
	}
	return c
}

// parts returns nil if c changes something by itself.
func (c *objectCodec) parts() []codec {
	if c.more != "" {
		return nil
	}
	all := []codec{c.rest}
	for _, p := range c.properties {
		if p.absent || p.renamed {
			return nil
		}
		all = append(all, p.codec)
	}
	return all
}

// find returns the property of a name as the reader knows it, or as the
// original does if no other has that name.
func (c *objectCodec) find(name []byte) (p *property, original bool) {
	if i, ok := c.bySeen[string(name)]; ok {
		return &c.properties[i], false
	}
	if i, ok := c.byName[string(name)]; ok {
		return &c.properties[i], true
	}
	return nil, false
}

func (c *objectCodec) decode(x *trip, dst []byte) []byte {
	if inner := x.unwrapText('{'); inner != nil {
		return decodeAll(c, x, dst, inner)
	}
	if !x.open('{') {
		return append(dst, x.value()...)
	}
	dst = append(dst, '{')
	object := x.parser
	for n := 0; x.more(n, '}'); n++ {
		dst = c.member(x, dst, n, object)
	}
	return append(dst, '}')
}

// member decodes a member of an object, before which there were n. It is most
// likely the property at that place.
func (c *objectCodec) member(x *trip, dst []byte, n int, object parser) []byte {
	if n < len(c.properties) && x.skip(c.properties[n].token) {
		return c.properties[n].decode(x, dst)
	}
	quoted, name := x.name()
	if c.more != "" && string(name) == c.more {
		return c.splice(x, dst)
	}
	p, original := c.find(name)
	switch {
	case p == nil:
		p = &property{quoted: quoted, seen: string(name), codec: c.rest}
	case original && x.spend(object.Data) && object.has(p.seen): // a member twice, which validation refuses
		x.note(fmt.Sprintf("%q is called %q here, and both are given", name, p.seen))
	}
	return p.decode(x, dst)
}

// decode decodes the value of a property.
func (p *property) decode(x *trip, dst []byte) []byte {
	if p.absent && x.skip("null") {
		return dst
	}
	dst = append(append(appendComma(dst), p.quoted...), ':')
	x.enter(p.seen)
	dst = decode(p.codec, x, dst)
	x.leave()
	return dst
}

// appendComma separates a member from one before it.
func appendComma(dst []byte) []byte {
	if dst[len(dst)-1] == '{' {
		return dst
	}
	return append(dst, ',')
}

// splice decodes the member that holds others.
func (c *objectCodec) splice(x *trip, dst []byte) []byte {
	if x.skip("null") {
		return dst
	}
	x.enter(c.more)
	held := decode(c.moreCodec, x, nil)
	x.leave()
	inner, ok := fields(held)
	if !ok || !x.spend(held) {
		inner = []field{{c.more, held}}
	}
	for _, m := range inner {
		dst = append(append(appendQuoted(appendComma(dst), m.name), ':'), m.value...)
	}
	return dst
}

func (c *objectCodec) encode(x *trip, dst, src []byte) ([]byte, bool) {
	all, ok := fields(src)
	if !ok {
		return dst, false
	}
	given := make(map[int][]byte, len(all))
	var others []field
	for _, f := range all {
		if i, known := c.byName[f.name]; known {
			given[i] = f.value
		} else {
			others = append(others, f)
		}
	}
	w := objectWriter{trip: x, dst: append(dst, '{'), ok: true}
	for i, p := range c.properties {
		switch value := given[i]; {
		case value != nil:
			w.put(p.seen, p.codec, value)
		case p.absent:
			w.put(p.seen, nil, []byte("null"))
		}
	}
	c.encodeOthers(&w, others)
	return append(w.dst, '}'), w.ok
}

// encodeOthers writes the undeclared members.
func (c *objectCodec) encodeOthers(w *objectWriter, others []field) {
	switch {
	case c.more == "":
		for _, f := range others {
			_, taken := c.bySeen[f.name]
			w.put(f.name, c.rest, f.value)
			w.ok = w.ok && !taken
		}
	case len(others) > 0:
		held := objectWriter{dst: []byte{'{'}, ok: true}
		for _, f := range others {
			held.put(f.name, nil, f.value)
		}
		w.put(c.more, c.moreCodec, append(held.dst, '}'))
	case c.moreNull:
		w.put(c.more, nil, []byte("null"))
	}
}

// An objectWriter writes members.
type objectWriter struct {
	*trip
	dst []byte
	ok  bool
}

func (w *objectWriter) put(name string, c codec, value []byte) {
	w.dst = append(appendQuoted(appendComma(w.dst), name), ':')
	var ok bool
	w.dst, ok = encode(c, w.trip, w.dst, value)
	w.ok = w.ok && ok
}

func (c *objectCodec) seenPath(path []string) []string {
	i, known := c.byName[path[0]]
	switch {
	case known:
		p := c.properties[i]
		return append([]string{p.seen}, seenPath(p.codec, path[1:])...)
	case c.more != "":
		return append([]string{c.more}, path...)
	}
	return append([]string{path[0]}, seenPath(c.rest, path[1:])...)
}
