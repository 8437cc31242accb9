package wire

import (
	"encoding/json"
	"sync"
)

// A memberSet is a set of the members that a block of content has, with its type.
type memberSet uint32

const (
	hasText memberSet = 1 << iota
	hasData
	hasMIMEType
	hasURI
	hasName
	hasBlob
	hasResource
	hasType
	hasMeta
	hasAnnotations
	hasIcons
	hasSize
	isText
	isImage
	isAudio
	isLink
	isResource
	isOther // of a type that no version has
)

// memberOf returns the member of a block of content, or of the resource in one, with
// a name. A value that begins with another byte than it has to may be odd.
func memberOf(name string, begins byte) (member memberSet, odd bool) {
	switch name {
	case "type":
		member = hasType
	case "text":
		member = hasText
	case "data":
		member = hasData
	case "mimeType":
		member = hasMIMEType
	case "uri":
		member = hasURI
	case "name":
		member = hasName
	case "blob":
		member = hasBlob
	case "resource":
		return hasResource, begins != '{'
	case "_meta":
		return hasMeta, begins != '{'
	case "title", "description":
	case "annotations":
		return hasAnnotations, begins != '{'
	case "icons":
		return hasIcons, begins != '['
	case "size":
		return hasSize, false
	default:
		return 0, false
	}
	return member, begins != '"'
}

// OddMember reports whether a client may refuse a member of a block of content, or of
// the resource in one, whose value begins with a byte.
func OddMember(name string, begins byte) bool {
	_, odd := memberOf(name, begins)
	return odd
}

// partShapes are the shapes of members of a block of content whose first byte does not
// show whether they are valid.
var partShapes = sync.OnceValue(func() map[string]*shape {
	p := newParts()
	return map[string]*shape{"annotations": p.annotations, "icons": p.icons, "size": p.count}
})

// HasParts reports whether the value of a member of a block of content is one that
// [OddValue] must look at.
func HasParts(name string) bool { return partShapes()[name] != nil }

// OddValue reports whether a client may refuse the value of a member that has parts.
func OddValue(name string, value json.RawMessage) bool {
	m := mender{}
	mended, err := m.mend(value, partShapes()[name])
	return err != nil || len(mended) != len(value) || &mended[0] != &value[0]
}

// ContentType reports whether a value, in quotes, can be a type of content, and
// whether older versions lack the type.
func ContentType(quoted []byte) (ok, newer bool) {
	is := typeOf(quoted)
	return is != 0, is&(isAudio|isLink) != 0
}

func typeOf(quoted []byte) memberSet {
	switch string(quoted) {
	case `"text"`:
		return isText
	case `"image"`:
		return isImage
	case `"audio"`:
		return isAudio
	case `"resource_link"`:
		return isLink
	case `"resource"`:
		return isResource
	}
	if len(quoted) > 2 && quoted[0] == '"' {
		return isOther
	}
	return 0
}

// isWhole reports whether a block has the members that its type requires.
func (h memberSet) isWhole() bool {
	var needs memberSet
	switch {
	case h&isText != 0:
		needs = hasText
	case h&(isImage|isAudio) != 0:
		needs = hasData | hasMIMEType
	case h&isLink != 0:
		needs = hasURI | hasName
	case h&isResource != 0:
		needs = hasResource
	}
	return h&needs == needs && h >= isText
}

// Look scans a result of tools/call that no scan of a message has seen. It reports
// the members Odd and Newer of its [Answer].
func Look(result []byte) (odd, newer bool) {
	var m Message
	s := lenient(result)
	if s.result(&m) != nil || s.Broken {
		return true, m.Newer
	}
	return m.Odd, m.Newer
}

// content reads the content of a result, and notes what a client may refuse.
func (s *scanner) content(m *Message) error {
	if m.Content != nil || s.Peek() != '[' {
		m.Odd = true
		return s.raw(&m.Content)
	}
	start := s.Pos
	err := s.array(func() error {
		block, err := s.block(m, false)
		m.Newer = m.Newer || block&(isAudio|isLink) != 0
		m.Odd = m.Odd || !block.isWhole()
		return err
	})
	m.Content = s.Data[start:s.Pos:s.Pos]
	return err
}

// block reads a block of content, or the resource in one.
func (s *scanner) block(m *Message, inBlock bool) (block memberSet, err error) {
	if s.Peek() != '{' {
		m.Odd = true
		return 0, s.skip()
	}
	err = s.object(func(name []byte) error {
		member, odd := memberOf(string(name[1:len(name)-1]), s.Peek())
		m.Odd = m.Odd || odd || block&member != 0
		block |= member
		switch {
		case member&(hasType|hasURI|hasAnnotations|hasIcons|hasSize) != 0:
			value, err := s.value()
			if err == nil {
				kind, odd := look(member, string(name[1:len(name)-1]), value)
				block, m.Odd = block|kind, m.Odd || odd
			}
			return err
		case member == hasResource && !inBlock:
			resource, err := s.block(m, true)
			m.Odd = m.Odd || resource&hasURI == 0 || resource&(hasText|hasBlob) == 0
			return err
		}
		return s.skip()
	})
	return block, err
}

// look returns the type of a block of content, if the member is that, and reports
// whether a client may refuse the value.
func look(member memberSet, name string, value json.RawMessage) (kind memberSet, odd bool) {
	switch member {
	case hasType:
		return typeOf(value), false
	case hasURI:
		return 0, !isURI(value)
	}
	return 0, OddValue(name, value)
}
