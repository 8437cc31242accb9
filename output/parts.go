package output

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
)

// A plan says what is shown of parts within a limit.
type plan struct {
	limit limit  // of all but media
	items []item // that are shown, if need be in views
	media int    // among the parts
	left  []item // media that are not
}

// newPlan gives media at most half of the room.
func newPlan(items []item, l limit) *plan {
	p := &plan{limit: l}
	if l.holds(sizes(items)) {
		p.items = items
		return p
	}
	room := limit{l.chars/2 - noteRoom, l.lines/2 - 1}
	for _, it := range items {
		if !it.media {
			p.items = append(p.items, it)
			continue
		}
		p.media++
		shown := it.fit(room.chars)
		if shown == nil || room.lines <= 0 {
			p.left = append(p.left, it)
			continue
		}
		n := shown[0].chars
		room = limit{room.chars - n, room.lines - 1}
		p.limit = limit{p.limit.chars - n, p.limit.lines - 1}
		p.items = append(p.items, shown...)
	}
	if len(p.left) > 0 {
		p.limit.chars -= noteRoom
		p.limit.lines--
	}
	return p
}

// fit returns media in so many characters: if need be bare, and its other
// members as a text. It is nil if that cannot be.
func (it item) fit(chars int) []item {
	if it.chars <= chars {
		return []item{it}
	}
	bare := newItem(toolpost.Part{Type: it.part.Type, Data: it.part.Data, MIMEType: it.part.MIMEType})
	if it.part.Type == "resource" || bare.chars > chars {
		return nil
	}
	return []item{bare, newItem(textPart(it.frame))}
}

// keptTexts returns the texts that are kept: of media only what is not shown.
func (p *plan) keptTexts() []string {
	all := bodies(p.items)
	for _, it := range p.left {
		all = append(all, it.block())
	}
	return all
}

// parts returns what is shown of what is kept.
func (v *viewing) parts(p *plan) []toolpost.Part {
	parts := v.views(p)
	if len(p.left) > 0 {
		parts = append(parts, textPart(p.missing(v.blob, v.names.page)))
	}
	return parts
}

// missing says which media are not shown.
func (p *plan) missing(b *blob, page string) string {
	text := fmt.Sprintf("[%d of %d images, audio and documents are left out here", len(p.left), p.media)
	if why := b.failure(); why != "" {
		return text + " and lost: " + why + ". Call the tool again with narrower arguments]"
	}
	return fmt.Sprintf("%s. Read them as lines of JSON, with their data, with %s %s]", text, page, b.readArguments(linesOf(bodies(p.items))))
}

// views returns the parts within the limit. Each gets a fair share; if that is
// too little for a view, all become one.
func (v *viewing) views(p *plan) []toolpost.Part {
	var chars, rows []int
	for _, it := range p.items {
		if !it.media {
			chars, rows = append(chars, it.chars), append(rows, it.rows)
		}
	}
	share, spare := fair(chars, p.limit.chars+len(plain))
	most, _ := fair(rows, p.limit.lines)
	var parts []toolpost.Part
	base := int64(0)
	for _, it := range p.items {
		l := limit{min(share, it.chars+spare), most}
		switch {
		case it.media:
			parts = append(parts, it.part)
			continue
		case l.holds(int64(it.chars), int64(it.rows)):
			parts = append(parts, it.part)
		case l.chars < hidden.MinChars || l.lines < hidden.MinLines:
			return v.joinParts(p)
		default:
			parts = append(parts, v.cut(it, l, base))
		}
		base += linesOf([]string{it.body()})
	}
	return parts
}

// cut returns a view of an item that is kept from the line base on. A part of
// which most is not its text becomes a text.
func (v *viewing) cut(it item, l limit, base int64) toolpost.Part {
	frame := runes(bytesOf(it.frame))
	if it.text == "" || frame > l.chars/4 {
		l.chars -= len(plain)
		return textPart(newExcerpt(it.body(), l.chars).view(l, v.blob.mark(v.names, base)))
	}
	l.chars -= frame
	view := newExcerptOf(it.text, it.chars-frame, l.chars).view(l, v.blob.mark(v.names, base+lines(it.lead())))
	it.part.Raw = partJSON(it.part, false, view)
	it.part.Text = view
	return it.part
}

// joinParts returns the media, and one view of all else in place of the first.
func (v *viewing) joinParts(p *plan) []toolpost.Part {
	s := &excerpt{room: p.limit.chars}
	for _, it := range p.items {
		if it.media {
			continue
		}
		body := bytesOf(it.body())
		s.add(body, scaleOf(body))
		if !bytes.HasSuffix(body, newline) {
			s.add(newline, scaleOf(newline))
		}
	}
	var out []toolpost.Part
	first := true
	for _, it := range p.items {
		if it.media {
			out = append(out, it.part)
		} else if first {
			first = false
			out = append(out, textPart(s.view(p.limit, v.blob.mark(v.names, 0))))
		}
	}
	return out
}

// fair returns the share of each, so that with what is less as it is, all are
// within the room; if all are less, spare is what is left for each.
func fair(sizes []int, room int) (share, spare int) {
	if len(sizes) == 0 {
		return room, 0
	}
	sorted := slices.Sorted(slices.Values(sizes))
	for i, n := range sorted {
		if share = room / (len(sorted) - i); n > share {
			return share, 0
		}
		room -= n
	}
	spare = room / len(sorted)
	return sorted[len(sorted)-1] + spare, spare
}

func textPart(text string) toolpost.Part { return toolpost.Part{Type: "text", Text: text} }
