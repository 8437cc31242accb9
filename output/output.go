// Package output keeps large tool output out of a model's context: what is too
// large is stored whole, and the model gets its head and its tail, a reference,
// and two tools that read the rest by page or by search.
package output

import (
	"context"
	"io"
	"log/slog"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/store"
)

// Options are the limits of a view; nil means defaults, which are below those
// of real clients.
type Options struct {
	Lines  int          // 2,000 if 0
	Chars  int          // 48,000 if 0; a tool's Policy.MaxOutput takes precedence
	Errors int          // characters of an error; 10,000 if 0
	Logger *slog.Logger // slog.Default() if nil
}

// A Cache keeps output for the sessions that it came in. It is safe for
// concurrent use.
type Cache struct{}

// New returns a cache that keeps output in s.
func New(s store.Store, opts *Options) *Cache { return nil }

// Layer returns ts with large results replaced by views of them, and with the
// tools that read what the views leave out.
func (c *Cache) Layer(ts toolpost.Toolset) toolpost.Toolset { return nil }

// Tools are tool_output_cache and tool_output_cache_grep.
func (c *Cache) Tools() toolpost.Tools { return nil }

// Record returns a recorder for a tool whose output comes while it runs.
func (c *Cache) Record(ctx context.Context) *Recorder { return nil }

// A Recorder stores output as it comes.
type Recorder struct{}

var _ io.Writer = (*Recorder)(nil)

// Write takes more output. It never fails: what cannot be stored is told in the
// result.
func (r *Recorder) Write(p []byte) (int, error) { return len(p), nil }

// Text returns what the model is shown: all of it, or a view. More output may
// follow.
func (r *Recorder) Text(ctx context.Context) (text, ref string) { return "", "" }

// Close ends the output; what is stored stays.
func (r *Recorder) Close() error { return nil }
