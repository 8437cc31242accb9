// Package encodings finds the encoding of a text file, so that a change of the file
// keeps it.
//
// Few files name their encoding. [Certain] returns it if the bytes leave no doubt: UTF-8,
// UTF-16 with a byte order mark or with ASCII characters, ISO-2022-JP. For all other
// text [Detect] returns every encoding that the bytes may be in. No guess is
// made among them: the bytes 98 59 are one character in Shift_JIS, two in windows-1251,
// and both are text. A change that gives the same bytes in every one of them is safe;
// for any other one the caller has to name the encoding, which [Named] looks up.
//
// [Encoding.Decode] and [Encoding.Encode] refuse what the other one would not turn back
// into the same bytes. So what a change leaves alone keeps its bytes.
package encodings

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

// An Encoding turns the bytes of a file into UTF-8 and back. A byte order mark is kept
// as the character U+FEFF.
type Encoding struct {
	Name     string
	AnyOrder bool // it was named as UTF-16 without an order of the bytes

	table encoding.Encoding // nil for UTF-8
	forms map[rune]string   // bytes of characters that are not those of the table
}

// IsUTF8 reports whether the bytes of a file are its text.
func (e *Encoding) IsUTF8() bool { return e.table == nil }

// IsUTF16 reports whether e is UTF-16, in which text has zero bytes.
func (e *Encoding) IsUTF16() bool { return strings.HasPrefix(e.Name, "utf-16") }

// IsUnicode reports whether e has every character.
func (e *Encoding) IsUnicode() bool { return e.IsUTF8() || e.IsUTF16() }

const stateful = "iso-2022-jp" // its bytes have a meaning that depends on those before them

func utf8Text() *Encoding { return &Encoding{Name: "utf-8"} }

func utf16Text(order unicode.Endianness) *Encoding {
	name := "utf-16le"
	if order == unicode.BigEndian {
		name = "utf-16be"
	}
	return &Encoding{Name: name, table: unicode.UTF16(order, unicode.IgnoreBOM)}
}

// legacy returns the encodings that text may be in which is not Unicode. Others of one
// byte a character treat ASCII as the last ones do.
func legacy() []*Encoding {
	return []*Encoding{
		{Name: "shift_jis", table: japanese.ShiftJIS},
		{Name: "euc-jp", table: japanese.EUCJP},
		{Name: "gb18030", table: simplifiedchinese.GB18030},
		{Name: "big5", table: traditionalchinese.Big5},
		{Name: "euc-kr", table: korean.EUCKR},
		{Name: "windows-1251", table: charmap.Windows1251},
		{Name: "windows-1252", table: charmap.Windows1252},
		{Name: "latin-1", table: charmap.ISO8859_1},
	}
}

// maxName is the length of the longest name that is looked up.
const maxName = 40

// Named returns the encoding with that name, as programs and standards write it.
func Named(name string) (*Encoding, error) {
	if len(name) > maxName {
		return nil, fmt.Errorf("the name of the encoding has %d bytes: give one such as shift_jis", len(name))
	}
	name = strings.ToLower(strings.TrimSpace(name))
	dashed := strings.ReplaceAll(name, "_", "-")
	switch dashed {
	case "utf8", "utf-8", "utf-8-sig", "ascii", "us-ascii":
		return utf8Text(), nil
	case "utf16", "utf-16":
		e := utf16Text(unicode.LittleEndian)
		e.AnyOrder = true
		return e, nil
	case "utf-16le", "utf-16-le":
		return utf16Text(unicode.LittleEndian), nil
	case "utf-16be", "utf-16-be":
		return utf16Text(unicode.BigEndian), nil
	case "latin-1", "latin1", "iso-8859-1", "iso8859-1": // the WHATWG takes them for windows-1252
		return &Encoding{Name: "latin-1", table: charmap.ISO8859_1}, nil
	case "cp932", "cp936", "cp949", "cp950":
		name = map[string]string{"cp932": "shift_jis", "cp936": "gbk", "cp949": "euc-kr", "cp950": "big5"}[dashed]
	}
	for _, n := range []string{name, dashed} {
		table, err := htmlindex.Get(n)
		if err == nil && table != encoding.Replacement {
			canonical, _ := htmlindex.Name(table)
			return &Encoding{Name: canonical, table: table}, nil
		}
	}
	return nil, fmt.Errorf("there is no encoding %q: give a name such as utf-8, utf-16le, shift_jis, gb18030 or windows-1251", name)
}

// BinaryHead is the length of the beginning of a file in which a zero byte makes it
// binary, unless it is UTF-16.
const BinaryHead = 8000

// MaxTried is the length of a content up to which the encodings are tried that it may
// be in, if it is not Unicode.
const MaxTried = 16 << 20

// Certain returns the encoding of content if its bytes leave no doubt, else nil.
func Certain(content []byte) *Encoding {
	all, nul := detectUTF16(content), bytes.IndexByte(content, 0)
	switch {
	case len(all) == 1:
		return all[0]
	case len(all) > 1, nul >= 0 && nul < BinaryHead, !utf8.Valid(content):
		return nil
	}
	if bytes.Contains(content, []byte("\x1b$")) {
		e := &Encoding{Name: stateful, table: japanese.ISO2022JP}
		if _, _, err := e.Decode(content); err == nil {
			return e
		}
	}
	return utf8Text()
}

// Detect returns the encodings that content may be in: the one that is certain, none if
// content is binary. A single one that is neither Unicode nor ISO-2022-JP is not
// certain: latin-1 takes all bytes. Content above [MaxTried] may be in all of them.
func Detect(ctx context.Context, content []byte) (all []*Encoding, err error) {
	if e := Certain(content); e != nil {
		return []*Encoding{e}, nil
	}
	if all = detectUTF16(content); all != nil || bytes.IndexByte(content, 0) >= 0 {
		return all, nil
	}
	if len(content) > MaxTried {
		return legacy(), nil
	}
	for _, e := range legacy() {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if e.fits(content) {
			all = append(all, e)
		}
	}
	return all, nil
}

// maxQuick is how much of a content is looked at before all of it is.
const maxQuick = 64 << 10

// fits reports whether content decodes.
func (e *Encoding) fits(content []byte) bool {
	if len(content) > maxQuick {
		if i := bytes.LastIndexByte(content[:maxQuick], '\n'); i > 0 && !e.fits(content[:i]) { // no character contains \n
			return false
		}
	}
	_, _, err := e.Decode(content)
	return err == nil || errors.Is(err, errTwoForms)
}

var (
	errNotText  = errors.New("it has bytes that are not a character there")
	errTwoForms = errors.New("it has a character in two forms, and which one is where would be lost")
)

// Decode returns content as UTF-8, and an encoding that restores the bytes: it writes
// characters of which e has several forms as content does. It is an error if content is
// not in e, or has several forms of one character.
func (e *Encoding) Decode(content []byte) (text []byte, same *Encoding, err error) {
	if e.IsUTF8() {
		if !utf8.Valid(content) {
			return nil, nil, errNotText
		}
		return content, e, nil
	}
	if text, err = e.table.NewDecoder().Bytes(content); err != nil {
		return nil, nil, errNotText
	}
	back, err := e.table.NewEncoder().Bytes(text)
	switch {
	case err == nil && bytes.Equal(back, content):
		return text, e, nil
	case bytes.ContainsRune(text, utf8.RuneError): // what a decoder writes for bad bytes
		return nil, nil, errNotText
	}
	if same = e.withForms(content, text); same == nil {
		return nil, nil, errTwoForms
	}
	return text, same, nil
}

// Encode returns text in e. It is an error if a character of text is not in e.
func (e *Encoding) Encode(text []byte) ([]byte, error) {
	if e.IsUTF8() {
		return text, nil
	}
	content, err := e.encode(text)
	if err == nil {
		back, err := e.table.NewDecoder().Bytes(content)
		if err == nil && bytes.Equal(back, text) {
			return content, nil
		}
	}
	return nil, fmt.Errorf("%s has no character %s", e.Name, e.missing(text))
}

func (e *Encoding) encode(text []byte) (content []byte, err error) {
	if len(e.forms) == 0 {
		return e.table.NewEncoder().Bytes(text)
	}
	rest := 0
	for i, r := range string(text) {
		form, ok := e.forms[r]
		if !ok {
			continue
		}
		part, err := e.table.NewEncoder().Bytes(text[rest:i])
		if err != nil {
			return nil, err
		}
		content = append(append(content, part...), form...)
		rest = i + utf8.RuneLen(r)
	}
	part, err := e.table.NewEncoder().Bytes(text[rest:])
	return append(content, part...), err
}

// missing describes the first character of text that is not in e.
func (e *Encoding) missing(text []byte) string {
	seen := map[rune]bool{}
	for _, r := range string(text) {
		if r < utf8.RuneSelf && e.Name != stateful || seen[r] || e.forms[r] != "" {
			continue
		}
		seen[r] = true
		one, err := e.table.NewEncoder().String(string(r))
		if back, e := e.table.NewDecoder().String(one); err != nil || e != nil || back != string(r) {
			return fmt.Sprintf("%q (U+%04X)", string(r), r)
		}
	}
	return "in the new text that it can be read back from"
}

// Reader returns r as UTF-8. Bytes that are not in e become U+FFFD.
func (e *Encoding) Reader(r io.Reader) io.Reader {
	if e.IsUTF8() {
		return r
	}
	return e.table.NewDecoder().Reader(r)
}

// Text returns content as UTF-8. Bytes that are not in e become U+FFFD.
func (e *Encoding) Text(content []byte) ([]byte, error) {
	if e.IsUTF8() {
		return content, nil
	}
	return e.table.NewDecoder().Bytes(content)
}

// Names returns the names of encodings, for a message.
func Names(all []*Encoding) string {
	names := make([]string, len(all))
	for i, e := range all {
		names[i] = e.Name
	}
	return strings.Join(names, ", ")
}
