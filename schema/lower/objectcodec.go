package lower

import "slices"

// An objectCodec writes an object with other names and with members that are
// always there.
type objectCodec struct {
	properties []property
	bySeen     map[string]int
	byName     map[string]int
	rest       codec  // of members that are no property
	more       string // the property that holds them, "" if there is none
	moreCodec  codec
	moreNull   bool // null is written if there are none
}

// A property is one member that an objectCodec knows.
type property struct {
	name, seen string
	codec      codec
	absent     bool // null stands for its absence
	renamed    bool
}

func newObjectCodec() *objectCodec {
	return &objectCodec{bySeen: map[string]int{}, byName: map[string]int{}}
}

func (c *objectCodec) add(p property) {
	c.bySeen[p.seen] = len(c.properties)
	c.byName[p.name] = len(c.properties)
	c.properties = append(c.properties, p)
}

// orNil returns nil if c changes nothing.
func (c *objectCodec) orNil() codec {
	changes := func(p property) bool { return p.codec != nil || p.absent || p.renamed }
	if c.rest == nil && c.more == "" && !slices.ContainsFunc(c.properties, changes) {
		return nil
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
func (c *objectCodec) find(name string) *property {
	i, ok := c.bySeen[name]
	if !ok {
		i, ok = c.byName[name]
	}
	if !ok {
		return nil
	}
	return &c.properties[i]
}

func (c *objectCodec) decode(x *trip, dst, src []byte) []byte {
	all, ok := fields(x.unwrapText(src, '{'))
	if !ok {
		return append(dst, src...)
	}
	dst = append(dst, '{')
	start := len(dst)
	for _, f := range all {
		x.enter(f.name)
		dst = c.member(x, dst, start, f)
		x.leave()
	}
	return append(dst, '}')
}

// member decodes one member; the object begins at start.
func (c *objectCodec) member(x *trip, dst []byte, start int, f field) []byte {
	if f.name == c.more && c.more != "" {
		return c.splice(x, dst, start, f)
	}
	name, code := f.name, c.rest
	if p := c.find(f.name); p != nil {
		if p.absent && isNull(f.value) {
			return dst
		}
		name, code = p.name, p.codec
	}
	if len(dst) > start {
		dst = append(dst, ',')
	}
	dst = append(appendQuoted(dst, name), ':')
	return decode(code, x, dst, f.value)
}

// splice decodes the member that holds others.
func (c *objectCodec) splice(x *trip, dst []byte, start int, f field) []byte {
	if isNull(f.value) {
		return dst
	}
	held := decode(c.moreCodec, x, nil, f.value)
	inner, ok := fields(held)
	if !ok {
		inner = []field{{f.name, held}}
	}
	for _, m := range inner {
		if len(dst) > start {
			dst = append(dst, ',')
		}
		dst = append(append(appendQuoted(dst, m.name), ':'), m.value...)
	}
	return dst
}

func (c *objectCodec) encode(dst, src []byte) ([]byte, bool) {
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
	w := objectWriter{dst: append(dst, '{'), ok: true}
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

// encodeOthers writes the members that are no property.
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
	dst  []byte
	some bool
	ok   bool
}

func (w *objectWriter) put(name string, c codec, value []byte) {
	if w.some {
		w.dst = append(w.dst, ',')
	}
	w.some = true
	w.dst = append(appendQuoted(w.dst, name), ':')
	var ok bool
	w.dst, ok = encode(c, w.dst, value)
	w.ok = w.ok && ok
}

func (c *objectCodec) seen(path []string) []string {
	i, known := c.byName[path[0]]
	switch {
	case known:
		p := c.properties[i]
		return append([]string{p.seen}, seen(p.codec, path[1:])...)
	case c.more != "":
		return append([]string{c.more}, path...)
	}
	return append([]string{path[0]}, seen(c.rest, path[1:])...)
}
