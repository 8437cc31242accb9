package stdtool

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/stdtool/internal/encodings"
)

const (
	maxImage    = 3_750_000 // bytes; models take images of 5 MB in base64
	maxReadLine = 2000      // bytes of one line that are shown
)

type readInput struct {
	Path     string `json:"path" jsonschema:"minLength=1,maxLength=4096"`
	Offset   int    `json:"offset,omitempty" jsonschema:"minimum=0,maximum=1000000000,description=Lines to skip"`
	Limit    int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=100000,default=2000,description=Lines to return"`
	Encoding string `json:"encoding,omitempty" jsonschema:"maxLength=40"`
}

// Read returns the tool read: numbered lines of a text file, or an image.
func (f *Workspace) Read() *toolpost.Tool {
	return newTool("read", func(ctx context.Context, in readInput) (*toolpost.Result, error) {
		name, err := localPath(f.root, in.Path)
		if err != nil {
			return nil, err
		}
		file, err := openFile(f.root, name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		sum := sha256.New()
		r := bufio.NewReaderSize(io.TeeReader(file, sum), 64<<10)
		head, err := r.Peek(8000)
		if err != nil && err != io.EOF {
			return nil, readError(name, err)
		}
		if kind := http.DetectContentType(head); isImage(kind) {
			return readImage(r, name, kind)
		}
		decoded, note, err := decodeFile(r, head, name, in.Encoding)
		if err != nil {
			return nil, err
		}
		text, err := readLines(ctx, decoded, name, in)
		if err != nil {
			return nil, err
		}
		text += note
		if rest, err := io.Copy(io.Discard, io.LimitReader(r, maxChanged)); err == nil && rest < maxChanged {
			text += hashNote(hex.EncodeToString(sum.Sum(nil)))
		}
		return toolpost.TextResult(text), nil
	}, pagedOptions("Read file"))
}

// decodeFile returns the text of a file that begins with head, and which encoding it is
// if that is not UTF-8.
func decodeFile(r *bufio.Reader, head []byte, name, encoding string) (text *bufio.Reader, note string, err error) {
	shown := encodings.UTF16(head)
	e := shown
	if encoding != "" {
		if e, err = encodingByName(encoding); err != nil {
			return nil, "", err
		}
		if shown == nil && bytes.HasPrefix(head, bom) {
			shown = encodings.Certain(bom)
		}
		e = resolveEncoding(e, shown, head)
	}
	if binary(head) && (e == nil || !e.IsUTF16()) {
		if e = shown; e == nil || !e.IsUTF16() {
			return nil, "", toolpost.Failed.Errorf("%q is a binary file: only text and images can be read", name)
		}
	}
	if e == nil || e.IsUTF8() {
		return r, "", nil
	}
	return bufio.NewReaderSize(e.Reader(r), 64<<10), "[decoded from " + e.Name + "]\n", nil
}

// isImage reports whether models take images of that kind.
func isImage(kind string) bool {
	return kind == "image/png" || kind == "image/jpeg" || kind == "image/gif" || kind == "image/webp"
}

func readImage(r io.Reader, name, kind string) (*toolpost.Result, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxImage+1))
	if err != nil {
		return nil, readError(name, err)
	}
	if len(data) > maxImage {
		return nil, toolpost.Failed.Errorf("%q is an image of more than %d bytes, which is too large to show", name, maxImage)
	}
	return toolpost.NewResult(toolpost.Part{Type: "image", Data: data, MIMEType: kind}), nil
}

func readLines(ctx context.Context, r *bufio.Reader, name string, in readInput) (string, error) {
	var b strings.Builder
	last, more := 0, false
	var foreign []byte // lines that are not UTF-8
	for l, err := range lines(r) {
		if err != nil {
			return "", readError(name, err)
		}
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		if l.number > in.Offset {
			text := clip(l.text, maxReadLine)
			if more = l.number-in.Offset > in.Limit || b.Len()+len(text) > maxOutput; more {
				break
			}
			if shown := shownPart(l.text); !utf8.Valid(shown) && len(foreign) < maxReadLine {
				foreign = append(append(foreign, shown...), '\n')
			}
			fmt.Fprintf(&b, "%5d  %s", l.number, text)
			if len(l.text) > maxReadLine {
				fmt.Fprintf(&b, " [line cut, it has %d bytes; search it with grep]", l.size)
			}
			b.WriteByte('\n')
		}
		last = l.number
	}
	switch {
	case more:
		fmt.Fprintf(&b, "\n[lines %d to %d; more follow, read on with offset %d]\n", in.Offset+1, last, last)
	case last == 0:
		return "[the file is empty]\n", nil
	case b.Len() == 0:
		return "", toolpost.Retry.Errorf("%q has only %d lines, so offset %d is past its end: give a smaller offset", name, last, in.Offset)
	}
	if len(foreign) > 0 {
		b.WriteString(encodingNote(ctx, foreign))
	}
	return b.String(), nil
}

// shownPart returns the beginning of a line that is shown, without half a character.
func shownPart(line []byte) []byte {
	if len(line) <= maxReadLine {
		return line
	}
	return wholeRunes(line[:maxReadLine])
}
