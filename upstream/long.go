package upstream

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/longjson"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/upstream/internal/indent"
)

const (
	maxLoaded = 1 << 20  // bytes of a message that is loaded if its result may have to be kept, and is not one text
	maxBeside = 1 << 10  // bytes of the result beside that text
	maxShort  = 16 << 10 // bytes of a result without its long strings, if these are replaced
	maxMeta   = 64 << 10 // bytes of the _meta of a result that stays in the spool
)

// A longResult is a result that is in a spool. It is an error to who wants it in
// one piece.
type longResult struct {
	body
	*longjson.Object
	found wire.Answer // but for what is long
}

func (l *longResult) Error() string { return l.limits.tooLong().Error() }

func (l *longResult) Unwrap() error { return errTooLong }

// long returns the message as a result that stays in the spool, nil if it is not
// such a result.
func (b *body) long() *longResult {
	if !b.scan.Done() || !isNumber(b.scan.ID) {
		return nil
	}
	l := &longResult{body: *b, Object: longjson.NewObject(b.spool, b.scan)}
	short := func(name string, most int64) []byte {
		m := l.Member(name)
		if m == nil || m.To-m.Value > most {
			return nil
		}
		value, _ := l.Read(longjson.Span{From: m.Value, To: m.To}) // without it, the rest cannot be read later either
		return value
	}
	l.found.Odd, l.found.Newer = b.scan.Odd, b.scan.Newer
	switch failed := string(short("isError", 5)); {
	case failed == "true":
		l.found.IsError = true
	case failed != "false" && l.Member("isError") != nil:
		l.found.Odd = true
	}
	l.found.Typed = l.Member("resultType") != nil
	l.found.ResultType = wire.Unquote(short("resultType", 1<<10))
	l.found.Asks = l.found.ResultType == "input_required"
	if m := l.Member("_meta"); m != nil && m.Kind != '{' {
		l.found.Odd = true
	}
	if l.found.ResultMeta = short("_meta", maxMeta); l.found.ResultMeta == nil && l.Member("_meta") != nil {
		return nil
	}
	return l
}

// message returns the message in memory, if it is not too long for that. It
// gives the file up.
func (l *longResult) message() (*wire.Message, error) {
	defer l.Close()
	data, err := l.load()
	if err != nil {
		return nil, notKept(err)
	}
	return readOne(data)
}

// readOne returns the only message in data.
func readOne(data []byte) (*wire.Message, error) {
	if found := wire.Read(data); len(found) == 1 {
		return &found[0], nil
	}
	return nil, notKept(errNotObject)
}

// encodedResult returns the result that m brings.
func encodedResult(m *wire.Message) *toolpost.Result {
	return hidden.NewResult(hidden.Encoded{Raw: m.Result, Scan: &m.Answer}).(*toolpost.Result)
}

// result returns the result for the caller. If long outputs are stored and only
// texts are long, the texts are stored. The result takes over
// the spool, or closes it.
func (l *longResult) result(ctx context.Context, keep hidden.KeepFunc) (*toolpost.Result, error) {
	fits := l.size <= int64(l.limits.max)
	switch {
	case keep == nil && fits:
		return hidden.NewResult(hidden.Encoded{Long: l.Object, Scan: &l.found}).(*toolpost.Result), nil
	case keep != nil && l.consistsOfTexts():
		return l.withViews(ctx, keep)
	case keep == nil || fits:
		m, err := l.message()
		if err != nil {
			return nil, err
		}
		return encodedResult(m), nil
	}
	defer l.Close()
	view, ref, err := keep(ctx, indent.Reader(l.section(l.scan.Result)), 1, l.found.IsError)
	if err != nil {
		return nil, notKept(err)
	}
	r := toolpost.TextResult(view)
	if l.found.IsError {
		r = toolpost.Failed.Resultf("%s", view)
	}
	return r.WithOutputRef(ref), nil
}

// consistsOfTexts reports whether nothing but texts is long in the result. Up to
// maxLoaded, that is one text and little else.
func (l *longResult) consistsOfTexts() bool {
	beside, all := l.Size(), l.scan.Strings.All
	for _, s := range all {
		beside -= s.To - s.From
	}
	if l.size <= int64(min(maxLoaded, l.limits.max)) && (len(all) > 1 || beside > maxBeside || l.Member("structuredContent") != nil) {
		return false
	}
	return beside <= maxShort && l.scan.Strings.Texts()
}

// withViews returns the result with views of its long texts, where they are above
// their limit.
func (l *longResult) withViews(ctx context.Context, keep hidden.KeepFunc) (*toolpost.Result, error) {
	var (
		views []longjson.Replacement
		ref   string
	)
	for _, s := range l.scan.Strings.All {
		view, r, err := keep(ctx, l.spool.Text(s.Span), len(l.scan.Strings.All), l.found.IsError)
		if err != nil {
			l.Close()
			return nil, notKept(err)
		}
		if ref = cmp.Or(ref, r); view != "" {
			from := l.scan.Result.From
			views = append(views, longjson.Replacement{Span: longjson.Span{From: s.From - from, To: s.To - from}, Text: view})
		}
	}
	if len(views) > 0 {
		if err := l.Replace(views); err != nil {
			l.Close()
			return nil, notKept(err)
		}
	}
	return hidden.NewResult(hidden.Encoded{Long: l.Object, Scan: &l.found}).(*toolpost.Result).WithOutputRef(ref), nil
}

func notKept(err error) error {
	return fmt.Errorf("%w for memory, and cannot be kept: %w", errTooLong, err)
}

// section returns a part of the message.
func (l *longResult) section(s longjson.Span) io.Reader {
	return io.NewSectionReader(l.spool, s.From, s.To-s.From)
}
