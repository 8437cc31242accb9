package output

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/longjson"
)

// Record returns a recorder for a tool that produces its output while it runs.
// The output belongs to the holder of the call in ctx. The recorder may outlive
// the call.
func (c *Cache) Record(ctx context.Context) *Recorder {
	v := &viewing{cache: c, holder: toolpost.CallFrom(ctx).Session, names: pair{pageName, findName}}
	return record(ctx, v, limit{c.opts.Chars, c.opts.Lines})
}

func record(ctx context.Context, v *viewing, l limit) *Recorder {
	return &Recorder{
		cache: v.cache, ctx: context.WithoutCancel(ctx), holder: v.holder, names: v.names,
		limit: l, excerpt: excerpt{room: l.chars},
	}
}

// keep stores the long texts of the result that v is of.
func keep(v *viewing) hidden.KeepFunc {
	return func(ctx context.Context, text io.Reader, of int, failed bool) (view, ref string, err error) {
		l := v.cache.limit(v.tool, failed)
		r := record(ctx, v, limit{max(hidden.MinChars, l.chars/of), max(hidden.MinLines, l.lines/of)})
		r.excerpt.ends = v.cache.ends.get()
		defer func() { v.cache.ends.put(r.excerpt.ends) }()
		r.blob = v.cache.create(r.ctx, r.holder) // nearly every text that is long is above the limit
		if err := r.read(text); err != nil {
			r.blob.drop()
			return "", "", fmt.Errorf("read the output: %w", err)
		}
		if r.isWhole() {
			r.blob.drop()
			return "", "", nil
		}
		view, ref = r.Text(ctx)
		return view, ref, r.Close()
	}
}

// A Recorder stores output as it arrives, once there is more than a view shows.
// It replaces bytes that are not UTF-8. It is safe for concurrent use.
type Recorder struct {
	cache  *Cache
	ctx    context.Context
	holder string
	names  pair
	limit  limit

	mu      sync.Mutex
	part    []byte // of a character
	excerpt excerpt
	blob    *blob // nil while a view shows all
	kept    bool  // the blob is committed
	text    string
	closed  bool
}

var _ io.WriteCloser = (*Recorder)(nil)

// read adds a text to its end, through the room of the store without a copy or through a
// buffer. Nobody else writes meanwhile.
func (r *Recorder) read(text io.Reader) error {
	var buffer *longjson.Buffer
	defer func() {
		if buffer != nil {
			r.cache.buffers.Put(buffer)
		}
	}()
	for {
		var room []byte
		if len(r.part) == 0 {
			room = r.blob.availableBuffer()
		}
		if room = room[:cap(room)]; len(room) < 1<<10 {
			if buffer == nil {
				buffer = r.cache.buffers.Get()
			}
			room = buffer[:]
		}
		n, err := text.Read(room)
		_, _ = r.Write(room[:n]) // it never fails
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// isWhole reports whether the output has ended and a view shows all of it.
func (r *Recorder) isWhole() bool {
	r.endPart()
	return r.limit.holds(r.excerpt.chars, r.excerpt.lines())
}

// endPart takes what there is of a character that is not complete.
func (r *Recorder) endPart() {
	if len(r.part) > 0 {
		r.part = nil
		r.add(replacement, scaleOf(replacement))
	}
}

// Write adds output. It never fails: the result reports output that cannot be
// stored.
func (r *Recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return len(p), nil
	}
	data := p
	if len(r.part) > 0 {
		data = append(r.part, p...)
	}
	whole := data[:len(data)-incomplete(data)]
	r.part = bytes.Clone(data[len(whole):])
	of := scaleOf(whole)
	if of.wide && !utf8.Valid(whole) {
		whole = bytes.ToValidUTF8(whole, replacement)
	}
	r.add(whole, of)
	return len(p), nil
}

// incomplete returns the length of the beginning of a character at the end of p.
func incomplete(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if last := p[len(p)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}

// add takes valid UTF-8.
func (r *Recorder) add(p []byte, of scale) {
	if len(p) == 0 {
		return
	}
	before := r.excerpt.head
	if r.kept {
		r.again()
	}
	r.excerpt.add(p, of)
	if r.blob == nil {
		if r.limit.holds(r.excerpt.chars, r.excerpt.lines()) {
			return
		}
		r.blob = r.cache.create(r.ctx, r.holder)
		r.blob.write(before) // is all that came before: else there would be a blob
	}
	r.blob.write(p)
}

// again goes on with a copy of what is stored: the text that was given out
// with its reference stays what it is.
func (r *Recorder) again() {
	old := r.blob
	r.blob, r.kept = r.cache.create(r.ctx, r.holder), false
	if old.err != nil {
		r.blob.err = old.err
		return
	}
	b, err := r.cache.store.Open(r.ctx, hidden.OutputName(r.holder, old.ref))
	if err == nil {
		_, err = io.Copy(writer{r.blob}, io.NewSectionReader(b, 0, b.Info().Size))
		_ = b.Close() // it was read
	}
	if r.blob.err == nil {
		r.blob.err = err
	}
}

type writer struct{ *blob }

func (w writer) Write(p []byte) (int, error) {
	w.write(p)
	return len(p), w.err
}

// Text returns the text for the model: the whole output, or a view of it. More
// output may follow; if it does after a view, all that is stored is copied once, because
// the reference in the view stays what it is. A caller that looks at running output
// again and again keeps its end itself, and calls Text when the output has ended.
func (r *Recorder) Text(ctx context.Context) (text, ref string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.show(ctx)
}

func (r *Recorder) show(ctx context.Context) (text, ref string) {
	r.endPart()
	if r.blob == nil {
		return string(r.excerpt.head), ""
	}
	if !r.kept {
		r.keep(ctx)
		r.text = r.excerpt.view(r.limit, r.blob.mark(r.names, 0))
	}
	if r.blob.err != nil {
		return r.text, ""
	}
	return r.text, r.blob.ref
}

func (r *Recorder) keep(ctx context.Context) {
	r.blob.commit(ctx, r.cache)
	r.kept = true
	if r.blob.err != nil {
		r.cache.opts.Logger.ErrorContext(ctx, "store output", "err", r.blob.err)
	}
}

// Close ends the output; what is stored remains.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.closed = true
		r.show(r.ctx)
	}
	return nil
}
