package output

import (
	"bufio"
	"bytes"
	"context"
	_ "embed" // for the description
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
)

//go:embed tool_output_cache.md
var pageDescription string

type pageInput struct {
	RefID  string `json:"ref_id" jsonschema:"minLength=1,maxLength=100,description=The ref_id of a shortened result"`
	Offset int64  `json:"offset,omitempty" jsonschema:"minimum=0,maximum=1000000000000,description=Number of lines to skip"`
	Limit  int64  `json:"limit,omitempty" jsonschema:"minimum=1,maximum=1000000000000,description=Number of lines to return; as many as fit if left out"`
}

// Of a line, this many characters are shown among others.
const maxShown = 2000

// maxRun is how long one call looks.
const maxRun = 20 * time.Second

// room is how many characters the reading tools return, without what they say
// of them.
func (c *Cache) room() int { return c.opts.Chars - hidden.MinChars/2 }

func readOnly(title string) *toolpost.Options {
	yes, no := true, false
	return &toolpost.Options{
		Title:       title,
		Annotations: toolpost.Annotations{ReadOnly: &yes, Destructive: &no, Idempotent: &yes, OpenWorld: &no},
		Policy:      toolpost.Policy{Timeout: 2 * maxRun, MaxOutput: -1},
	}
}

func (c *Cache) pageTool() *toolpost.Tool {
	return toolpost.New(pageName, strings.TrimSpace(pageDescription), func(ctx context.Context, in pageInput) (*toolpost.Result, error) {
		if media, is, err := c.readMedia(ctx, in.RefID); is {
			return media, err
		}
		f, err := c.open(ctx, in.RefID)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		p := &pager{openOutput: f, room: c.room(), rows: int64(c.opts.Lines)}
		if f.line > 0 {
			err = p.window(ctx, in.Offset, in.Limit)
		} else {
			err = p.page(ctx, in.Offset, in.Limit)
		}
		var outcome *toolpost.ToolError
		if err != nil && ctx.Err() == nil && !errors.As(err, &outcome) {
			c.opts.Logger.ErrorContext(ctx, "read stored output", "err", err)
			err = toolpost.Failed.Errorf("the output can no longer be read: call the tool that produced it again, with narrower arguments")
		}
		if err != nil {
			return nil, err
		}
		return toolpost.TextResult(p.out.String()), nil
	}, readOnly("Read a large tool output"))
}

// A pager writes a part of an output.
type pager struct {
	*openOutput
	room int
	rows int64
	out  strings.Builder
	used int // characters
}

// page writes numbered lines.
func (p *pager) page(ctx context.Context, offset, most int64) error {
	total := p.Info().Lines
	if offset > 0 && offset >= total {
		return toolpost.Retry.Errorf("the output %s has only %d lines, so offset %d is past its end: give a smaller offset", p.ref, total, offset)
	}
	if most == 0 || most > p.rows {
		most = p.rows
	}
	r, err := p.from(offset)
	if err != nil {
		return err
	}
	at := offset
	for ; at < total && at-offset < most; at++ {
		row, next, err := p.row(ctx, r, at)
		if err != nil {
			return err
		}
		n := utf8.RuneCountInString(row)
		if p.used+n > p.room && p.used > 0 {
			break
		}
		p.used += n
		p.out.WriteString(row)
		r = next
	}
	p.foot(offset, at, total)
	return nil
}

// foot says where a page ends.
func (p *pager) foot(offset, at, total int64) {
	switch {
	case total == 0:
		p.out.WriteString("[the output is empty]")
	case at < total:
		fmt.Fprintf(&p.out, "\n[lines %d to %d of %d; read on with offset %d]\n", offset+1, at, total, at)
	case offset > 0:
		fmt.Fprintf(&p.out, "\n[lines %d to %d, the end]\n", offset+1, at)
	}
}

// from returns a reader of the output from a line on.
func (p *pager) from(line int64) (*bufio.Reader, error) {
	at, err := p.Line(line)
	if err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(io.NewSectionReader(p, at, p.Info().Size-at), 64<<10), nil
}

// row returns a line as it is shown, and the reader of the next one.
func (p *pager) row(ctx context.Context, r *bufio.Reader, at int64) (string, *bufio.Reader, error) {
	if ctx.Err() != nil {
		return "", nil, context.Cause(ctx)
	}
	line, err := r.ReadSlice('\n')
	if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
		return "", nil, err
	}
	full := errors.Is(err, bufio.ErrBufferFull)
	line = bytes.TrimSuffix(line, newline)
	most := min(maxShown, p.room/2)
	n := prefix(line, most)
	row := fmt.Sprintf("%5d  %s", at+1, bytes.ToValidUTF8(line[:n], replacement))
	if n == len(line) && !full {
		return row + "\n", r, nil
	}
	size := int64(len(line))
	if full {
		begin, err := p.Line(at)
		if err != nil {
			return "", nil, err
		}
		end, err := p.Line(at + 1)
		if err != nil {
			return "", nil, err
		}
		size = end - begin
		if r, err = p.from(at + 1); err != nil {
			return "", nil, err
		}
	}
	return row + fmt.Sprintf(` [… the line has %d bytes: read on with {"ref_id":"%s@%d","offset":%d}]`+"\n", size, p.ref, at+1, most), r, nil
}

// window writes characters of one line.
func (p *pager) window(ctx context.Context, offset, most int64) error {
	begin, err := p.Line(p.line - 1)
	if err != nil {
		return err
	}
	end, err := p.Line(p.line)
	if err != nil {
		return err
	}
	if most == 0 || most > int64(p.room) {
		most = int64(p.room)
	}
	r := bufio.NewReaderSize(io.NewSectionReader(p, begin, end-begin), 64<<10)
	skipped, err := skipChars(ctx, r, offset)
	if err != nil {
		return err
	}
	text, more, err := readChars(r, int(most))
	switch {
	case err != nil:
		return err
	case skipped < offset || offset > 0 && len(text) == 0:
		return toolpost.Retry.Errorf("line %d of the output %s has only %d characters, so offset %d is past its end: give a smaller offset", p.line, p.ref, skipped, offset)
	}
	last := offset + int64(utf8.RuneCount(text))
	p.out.Write(bytes.ToValidUTF8(text, replacement))
	if more {
		fmt.Fprintf(&p.out, "\n\n[characters %d to %d of line %d, which has %d bytes; read on with offset %d]\n", offset+1, last, p.line, end-begin, last)
	} else {
		fmt.Fprintf(&p.out, "\n\n[characters %d to %d, the end of line %d]\n", min(offset+1, last), last, p.line)
	}
	return nil
}

// skipChars skips n characters of a line, or as many as there are.
func skipChars(ctx context.Context, r *bufio.Reader, n int64) (skipped int64, err error) {
	for skipped < n {
		if ctx.Err() != nil {
			return skipped, context.Cause(ctx)
		}
		data, err := r.Peek(r.Size())
		if err != nil && err != io.EOF {
			return skipped, err
		}
		if err == io.EOF {
			data = bytes.TrimSuffix(data, newline)
		} else {
			data = data[:len(data)-incomplete(data)]
		}
		size := prefix(data, int(min(n-skipped, int64(len(data)))))
		skipped += int64(utf8.RuneCount(data[:size]))
		_, _ = r.Discard(size) // it was peeked at
		if err == io.EOF {
			break
		}
	}
	return skipped, nil
}

// readChars reads up to n characters of a line; more reports whether it goes on.
func readChars(r *bufio.Reader, n int) (text []byte, more bool, err error) {
	text, err = io.ReadAll(io.LimitReader(r, int64(utf8.UTFMax*n+1)))
	text = bytes.TrimSuffix(text, newline)
	size := prefix(text, n)
	return text[:size], size < len(text), err
}
