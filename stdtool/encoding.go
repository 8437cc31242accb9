package stdtool

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/stdtool/internal/encodings"
)

// A revision is a file before and after a change.
type revision struct {
	before, after []byte // as UTF-8, to be shown
	content       []byte // what the file is to hold
	done          []string
}

// An editing makes new text of a file's text, and describes what it did.
type editing func(text []byte) (changed []byte, done []string, err error)

// revise makes a change in the encoding of the file. If that is not certain, the change
// must give the same bytes in every encoding that it may be, and as bytes.
func (d *document) revise(ctx context.Context, encoding string, change editing) (*revision, error) {
	e, err := d.encoding(encoding)
	if err != nil {
		return nil, err
	}
	if e != nil {
		return d.reviseIn(e, change)
	}
	all, err := encodings.Detect(ctx, d.content)
	switch {
	case err != nil:
		return nil, err
	case len(all) == 0:
		return nil, d.isBinary()
	case len(d.content) > encodings.MaxTried:
		return nil, d.ambiguous(all, utf8Keeps)
	}
	after, done, err := change(d.content)
	for _, e := range all {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		r, failed := d.reviseIn(e, change)
		if (failed == nil) != (err == nil) || err == nil && !bytes.Equal(r.content, after) {
			return nil, d.ambiguous(all, utf8Keeps)
		}
	}
	if err != nil {
		return nil, err
	}
	return &revision{d.content, after, after, done}, nil
}

// reviseIn makes a change in one encoding. In UTF-8, lines that are in another one stay.
func (d *document) reviseIn(e *encodings.Encoding, change editing) (*revision, error) {
	before, same := d.content, e
	if !e.IsUTF8() {
		var err error
		if before, same, err = e.Decode(d.content); err != nil {
			return nil, toolpost.Retry.Errorf("%q cannot be changed as %s: %v. Give its encoding as encoding; if this is it, change the file with another program", d.given, e.Name, err)
		}
	}
	after, done, err := change(before)
	switch {
	case err != nil:
		return nil, err
	case e.IsUTF8() && !slices.EqualFunc(foreignLines(before), foreignLines(after), bytes.Equal):
		return nil, toolpost.Retry.Errorf("this changes a line of %q that is not UTF-8: give the encoding of that line as encoding, or change other lines. Nothing was changed.", d.given)
	}
	content, err := d.encode(same, after)
	if err != nil {
		return nil, err
	}
	return &revision{before, after, content, done}, nil
}

// foreignLines returns the lines that are not in UTF-8. Text may be found in the middle of
// their characters.
func foreignLines(text []byte) (lines [][]byte) {
	if utf8.Valid(text) && !bytes.Contains(text, []byte("\x1b$")) { // which begins Japanese in ISO-2022-JP
		return nil
	}
	for line := range bytes.Lines(text) {
		if !utf8.Valid(line) || bytes.Contains(line, []byte("\x1b$")) {
			lines = append(lines, bytes.TrimRight(line, "\r\n"))
		}
	}
	return lines
}

func (d *document) encode(e *encodings.Encoding, text []byte) ([]byte, error) {
	content, err := e.Encode(text)
	if err != nil {
		return nil, toolpost.Retry.Errorf("%v, and %q is written in it. Nothing was changed: use other characters, or ask the user whether to convert the file", err, d.given)
	}
	return content, nil
}

// encoding returns the encoding of the file: the one with that name, if one is given, or
// the one that is certain, else nil.
func (d *document) encoding(name string) (*encodings.Encoding, error) {
	certain := encodings.Certain(d.content)
	if name == "" {
		return certain, nil
	}
	e, err := encodingByName(name)
	switch {
	case err != nil:
		return nil, err
	case certain == nil && !e.IsUTF16() && binary(d.content):
		return nil, d.isBinary()
	case certain == nil:
		return e, nil
	case !e.IsUnicode() && e.Name != certain.Name && !(certain.IsUTF8() && isASCII(d.content)):
		return nil, toolpost.Retry.Errorf("%q is in %s, not in %s: give no encoding. Nothing was changed.", d.given, certain.Name, e.Name)
	}
	return resolveEncoding(e, certain, d.content), nil
}

// resolveEncoding returns the encoding of a file that is said to be in e: what the file shows
// counts more than which form of Unicode is given.
func resolveEncoding(e, shown *encodings.Encoding, content []byte) *encodings.Encoding {
	if shown != nil && e.IsUnicode() && (shown.IsUTF16() || bytes.HasPrefix(content, bom)) {
		return shown
	}
	return e
}

func isASCII(content []byte) bool {
	return !bytes.ContainsFunc(content, func(r rune) bool { return r >= utf8.RuneSelf || r == 0 })
}

func (d *document) isBinary() error {
	return toolpost.Failed.Errorf("%q is a binary file: only text files can be edited", d.given)
}

func encodingByName(name string) (*encodings.Encoding, error) {
	e, err := encodings.Named(name)
	if err != nil {
		return nil, toolpost.Retry.Errorf("%v", err)
	}
	return e, nil
}

// What utf-8 means as the encoding of a file that is not valid UTF-8.
const (
	utf8Keeps    = ", or utf-8 if most of the file is that, which keeps its other bytes"
	utf8Converts = ", or utf-8, which converts the file"
)

func (d *document) ambiguous(all []*encodings.Encoding, orUTF8 string) error {
	if all[0].IsUTF16() && orUTF8 == utf8Keeps {
		orUTF8 = ""
	}
	return toolpost.Retry.Errorf("%q is not valid UTF-8, and may be %s. This change gives other bytes there, or none: give the right one as encoding%s. Nothing was changed.",
		d.given, encodings.Names(all), orUTF8)
}

// rewrite returns text as all that is in the file, in its encoding or the one with that
// name. The file keeps its byte order mark and, if all lines end with \r\n, that.
func (d *document) rewrite(ctx context.Context, text, name string) (content []byte, kept string, err error) {
	certain := encodings.Certain(d.content)
	e, old := certain, textIn(certain, d.content)
	if name != "" {
		if e, err = encodingByName(name); err != nil {
			return nil, "", err
		}
		if e.AnyOrder && certain != nil && certain.IsUTF16() {
			e = certain
		}
		if d.converted = isConversion(certain, e); certain == nil || d.converted {
			old = bytes.TrimPrefix(old, bom)
			if e.IsUTF16() {
				text = string(bom) + strings.TrimPrefix(text, string(bom))
			}
		}
	}
	text, kept = asBefore(old, text)
	if e == nil {
		content, err = d.encodeUncertain(ctx, text)
		return content, kept, err
	}
	if !e.IsUTF8() {
		kept += ", encoded as " + e.Name
	}
	content, err = d.encode(e, []byte(text))
	return content, kept, err
}

// isConversion reports whether a file changes its encoding, whose old one is nil if it is
// not certain: then it may be any but for Unicode.
func isConversion(old, new *encodings.Encoding) bool {
	if old == nil {
		return new.IsUnicode()
	}
	return old.Name != new.Name
}

// textIn returns content as UTF-8, as it is if it cannot be decoded.
func textIn(e *encodings.Encoding, content []byte) []byte {
	if e == nil {
		return content
	}
	if text, _, err := e.Decode(content); err == nil {
		return text
	}
	return content
}

// encodeUncertain returns text if it has the same bytes in every encoding that the file
// may be in.
func (d *document) encodeUncertain(ctx context.Context, text string) ([]byte, error) {
	all, err := encodings.Detect(ctx, d.content)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if content, err := e.Encode([]byte(text)); err != nil || string(content) != text {
			return nil, d.ambiguous(all, utf8Converts)
		}
	}
	return []byte(text), nil // something else than text may have been there
}

// asBefore gives text the byte order mark and the line ends of the text that it
// replaces, and describes what was kept.
func asBefore(old []byte, text string) (changed, kept string) {
	if bytes.HasPrefix(old, bom) && !strings.HasPrefix(text, string(bom)) {
		text, kept = string(bom)+text, ", kept the byte order mark"
	}
	n := bytes.Count(old, []byte("\r\n"))
	if n > 0 && n == bytes.Count(old, []byte("\n")) && n == bytes.Count(old, []byte("\r")) &&
		!strings.Contains(text, "\r") && strings.Contains(text, "\n") {
		text, kept = strings.ReplaceAll(text, "\n", "\r\n"), kept+", kept line ends CRLF"
	}
	return text, kept
}

// encodingNote describes bytes that a reader sees as U+FFFD, given some of their lines.
func encodingNote(ctx context.Context, lines []byte) string {
	note := "\n[not UTF-8: \uFFFD stands for other bytes; give encoding"
	if all, _ := encodings.Detect(ctx, lines); len(all) > 1 {
		note = fmt.Sprintf("%s, which may be %s", note, encodings.Names(all))
	}
	return note + "]\n"
}
