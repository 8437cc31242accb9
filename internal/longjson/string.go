package longjson

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/wire"
)

// inString takes more of a string: a part of it without escapes, or a byte of
// an escape.
func (s *Scanner) inString(p []byte) {
	n, most := 1, 0
	switch {
	case s.name || len(s.stack) == 1:
		most = longestToken + 1
	case s.namesResource():
		most = longestURI + 1
	case s.isOfContent("type"):
		most = longestToken + 1
	}
	switch c := p[0]; {
	case s.digits > 0 || s.escaped:
		s.inEscape(c)
	case c == '"':
		s.keep(p[:1], most)
		s.at++
		s.endCharacter()
		s.endPair(false)
		s.endString()
		return
	case c == '\\':
		s.escaped = true
		s.endCharacter()
	default:
		var ascii bool
		n, ascii = jsontree.StringText(p)
		s.failed = n == 0 // it is a control character
		s.endPair(false)
		s.Broken = s.Broken || !(ascii && len(s.cut) == 0) && !s.isUTF8(p[:n])
	}
	s.keep(p[:n], most)
	s.at += int64(n)
}

// inEscape takes a byte of an escape.
func (s *Scanner) inEscape(c byte) {
	switch {
	case s.digits > 0:
		digit := strings.IndexByte("0123456789abcdef", c|0x20)
		s.failed = digit < 0 || c < '0'
		s.unit = s.unit<<4 | rune(digit)
		if s.digits--; s.digits == 0 {
			s.endPair(s.unit>>10 == 0xdc00>>10)
			s.high = s.unit>>10 == 0xd800>>10
		}
	case c == 'u':
		s.escaped, s.digits, s.unit = false, 4, 0
	default:
		s.escaped = false
		s.failed = strings.IndexByte(escapes, c) < 0
		s.endPair(false)
	}
}

// endPair notes half of a surrogate pair. Low is whether the second half follows.
func (s *Scanner) endPair(low bool) {
	s.Broken = s.Broken || s.high != low
	s.high = false
}

// isUTF8 reports whether more of a string is UTF-8. A character that continues in
// the next piece is kept.
func (s *Scanner) isUTF8(p []byte) bool {
	for len(s.cut) > 0 && len(p) > 0 {
		s.cut, p = append(s.cut, p[0]), p[1:]
		if utf8.FullRune(s.cut) {
			broken := !utf8.Valid(s.cut)
			if s.cut = nil; broken {
				return false
			}
		}
	}
	for i := max(0, len(p)-utf8.UTFMax+1); i < len(p); i++ {
		if utf8.RuneStart(p[i]) && !utf8.FullRune(p[i:]) {
			s.cut, p = append(s.cut, p[i:]...), p[:i]
		}
	}
	return utf8.Valid(p)
}

// endCharacter notes a character whose rest does not come.
func (s *Scanner) endCharacter() {
	s.Broken = s.Broken || len(s.cut) > 0
	s.cut = nil
}

// endString takes a string whose end was the byte before.
func (s *Scanner) endString() {
	s.kind = 0
	inResult := len(s.stack) > 1 && s.names[1] == "result"
	if content := (Span{s.start + 1, s.at - 1}); inResult && content.size() > longString {
		if len(s.Strings.All) < maxStrings {
			s.Strings.All = append(s.Strings.All, String{content, s.isText()})
		} else {
			s.Strings.More = true
		}
	}
	if s.name {
		s.want = colon
		s.takeName(inResult)
		return
	}
	s.noteURI()
	s.noteType()
	if len(s.text) > longestToken {
		s.text = s.text[:0]
	}
	s.identify()
	s.endValue()
}

// noteType notes the type of a block of content, if it is the string that ended.
func (s *Scanner) noteType() {
	if len(s.stack) == 4 && s.isOfContent("type") {
		ok, newer := wire.ContentType(s.text)
		s.Odd, s.Newer = s.Odd || !ok, s.Newer || newer
	}
}

// noteURI notes a URI, if it is the string that ended.
func (s *Scanner) noteURI() {
	if !s.namesResource() || len(s.text) > longestURI {
		return
	}
	uri := URI{Text: wire.Unquote(s.text), Span: Span{s.start, s.at}, Content: s.isOfContent("uri")}
	if inContents := s.names[2] == "contents" && len(s.stack) == 4 && s.last == "uri"; uri.Content || inContents {
		s.Odd = s.Odd || !wire.IsURI(uri.Text)
	}
	if len(s.URIs) == maxURIs {
		s.More = true
		return
	}
	s.URIs = append(s.URIs, uri)
}

// namesResource reports whether the value that is read is a member of the result that
// names a resource.
func (s *Scanner) namesResource() bool {
	return s.data == 0 && s.inObject() && len(s.stack) > 1 && s.names[1] == "result" && slices.Contains(wire.URIMembers, s.last)
}

// inObject reports whether a member of an object is read, not an element.
func (s *Scanner) inObject() bool {
	return len(s.stack) > 0 && s.stack[len(s.stack)-1] == '{'
}

// isOddInContent reports whether a client may refuse a value that begins with c: a
// block of the content, a member of one, or the contents of a resource.
func (s *Scanner) isOddInContent(c byte) bool {
	if s.names[1] != "result" || s.names[2] != "content" && s.names[2] != "contents" {
		return false
	}
	switch len(s.stack) {
	case 2:
		return c != '['
	case 3:
		return s.stack[2] == '[' && c != '{'
	}
	name := s.nameInContent()
	return name != "" && wire.OddMember(name, c)
}

// nameInContent returns the name of the member of a block of content that is read, or of
// the resource in one, or of the contents of a resource; else "".
func (s *Scanner) nameInContent() string {
	depth := len(s.stack)
	switch {
	case depth < 4 || depth > 5 || s.names[1] != "result" || s.names[2] != "content" && s.names[2] != "contents":
	case depth == 4 && s.stack[3] == '{':
		return s.names[4]
	case depth == 5 && s.stack[4] == '{' && s.names[4] == "resource":
		return s.names[5]
	}
	return ""
}

// isText reports whether the string that ended is the text of a content block, or
// within structured content.
func (s *Scanner) isText() bool {
	switch {
	case s.name:
		return false
	case s.names[2] == "structuredContent":
		return len(s.stack) > 2
	}
	return s.isOfContent("text")
}

// isOfContent reports whether the value that is read is the member of that name of
// a content block, or of the resource in one.
func (s *Scanner) isOfContent(name string) bool {
	depth := len(s.stack)
	switch {
	case depth < 4 || s.names[1] != "result" || s.names[2] != "content" || s.stack[2] != '[' || s.stack[3] != '{':
		return false
	case depth == 4:
		return s.names[4] == name
	}
	return depth == 5 && s.names[4] == "resource" && s.stack[4] == '{' && s.names[5] == name
}

// takeName takes the name of a member.
func (s *Scanner) takeName(inResult bool) {
	name := ""
	if len(s.text) <= longestToken {
		name = wire.Unquote(s.text)
	}
	s.setName(name)
	s.last = name
	switch depth := len(s.stack); {
	case depth == 1:
		s.inEnvelope(name)
	case depth == 2 && inResult:
		twice := name != "" && slices.ContainsFunc(s.Members, func(m Member) bool { return m.Name == name })
		s.malformed = s.malformed || len(s.Members) == maxMembers || twice
		if !s.malformed {
			s.Members = append(s.Members, Member{Name: name, Span: Span{From: s.start}})
		}
	}
}

// inEnvelope takes the name of a member of the message itself.
func (s *Scanner) inEnvelope(name string) {
	switch name {
	case "method", "params":
		s.Request = true
		s.malformed = s.malformed || name == "method"
	case "error":
		s.malformed = true
	case "result":
		s.malformed = s.malformed || s.Result.From > 0
	}
}

// setName sets the name of the member that is open in the innermost object.
func (s *Scanner) setName(name string) {
	if depth := len(s.stack); depth < len(s.names) {
		s.names[depth] = name
	}
}
