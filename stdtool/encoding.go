package stdtool

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/encodings"
)

// maxTried is the size of a file up to which every encoding is tried that it may be in.
const maxTried = 16 << 20

// A revision is a file before and after a change.
type revision struct {
	before, after []byte // as UTF-8, to be shown
	content       []byte // what the file is to hold
	done          []string
}

// An editing makes new text of a file's text, and describes what it did.
type editing func(text []byte) (changed []byte, done []string, err error)

// revise makes a change in the encoding of the file. If that is not certain, the change
// must give the same bytes in every encoding that it may be.
func (d *document) revise(ctx context.Context, encoding string, change editing) (*revision, error) {
	all, err := d.encodings(encoding)
	if err != nil {
		return nil, err
	}
	switch len(all) {
	case 0:
		return nil, toolpost.Failed("%q is a binary file: only text files can be edited", d.given)
	case 1:
		return d.reviseIn(all[0], change)
	}
	after, done, err := change(d.content)
	for _, e := range all {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		r, failed := d.reviseIn(e, change)
		if (failed == nil) != (err == nil) || err == nil && !bytes.Equal(r.content, after) {
			return nil, d.ambiguous(all)
		}
	}
	if err != nil {
		return nil, err
	}
	return &revision{d.content, after, after, done}, nil
}

func (d *document) reviseIn(e *encodings.Encoding, change editing) (*revision, error) {
	before, same, err := e.Decode(d.content)
	if err != nil {
		return nil, toolpost.Retry("%q cannot be changed as %s: %v. Give its encoding as encoding; if this is it, change the file with another program", d.given, e.Name, err)
	}
	after, done, err := change(before)
	if err != nil {
		return nil, err
	}
	content, err := d.encode(same, after)
	if err != nil {
		return nil, err
	}
	return &revision{before, after, content, done}, nil
}

func (d *document) encode(e *encodings.Encoding, text []byte) ([]byte, error) {
	content, err := e.Encode(text)
	if err != nil {
		return nil, toolpost.Retry("%v, and %q is written in it. Nothing was changed: use other characters, or ask the user whether to convert the file", err, d.given)
	}
	return content, nil
}

// encodings returns the encodings that the file may be in: the one with that name, if
// one is given; none if the file is binary.
func (d *document) encodings(name string) ([]*encodings.Encoding, error) {
	if name != "" {
		e, err := namedEncoding(name)
		return []*encodings.Encoding{e}, err
	}
	all := encodings.Detect(d.content)
	if len(all) > 1 && len(d.content) > maxTried {
		return nil, d.ambiguous(all)
	}
	return all, nil
}

func namedEncoding(name string) (*encodings.Encoding, error) {
	e, err := encodings.Named(name)
	if err != nil {
		return nil, toolpost.Retry("%v", err)
	}
	return e, nil
}

func (d *document) ambiguous(all []*encodings.Encoding) error {
	return toolpost.Retry("%q is not UTF-8, and may be %s. This change gives other bytes in each of them, or none: give the right one as encoding. Nothing was changed.",
		d.given, encodings.Names(all))
}

// rewrite returns text as all that is in the file, in its encoding or the one with that
// name. The file keeps its byte order mark and, if all lines end with \r\n, that.
func (d *document) rewrite(text, name string) (content []byte, kept string, err error) {
	was := encodings.Detect(d.content)
	all, old := was, d.content
	if len(was) == 1 {
		if old, _, err = was[0].Decode(d.content); err != nil {
			return nil, "", toolpost.Failed("%q cannot be changed as %s: %v", d.given, was[0].Name, err)
		}
	}
	if name != "" {
		if all, err = d.encodings(name); err != nil {
			return nil, "", err
		}
		if len(was) != 1 || was[0].Name != all[0].Name {
			old = bytes.TrimPrefix(old, bom)
			if strings.HasPrefix(all[0].Name, "utf-16") {
				text = string(bom) + strings.TrimPrefix(text, string(bom))
			}
		}
	}
	text, kept = asBefore(old, text)
	if len(all) == 1 && !all[0].IsUTF8() {
		kept += ", encoded as " + all[0].Name
	}
	content, err = d.encodeAll(all, text)
	return content, kept, err
}

// encodeAll returns text in the only encoding, or as it is in every one of them.
func (d *document) encodeAll(all []*encodings.Encoding, text string) ([]byte, error) {
	if len(all) == 1 {
		return d.encode(all[0], []byte(text))
	}
	for _, e := range all {
		if content, err := e.Encode([]byte(text)); err != nil || string(content) != text {
			return nil, d.ambiguous(all)
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
func encodingNote(lines []byte) string {
	note := "\n[not UTF-8: \uFFFD stands for other bytes; give encoding"
	if all := encodings.Detect(lines); len(all) > 1 {
		note = fmt.Sprintf("%s, which may be %s", note, encodings.Names(all))
	}
	return note + "]\n"
}
