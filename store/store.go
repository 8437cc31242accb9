// Package store keeps named blobs in memory or in a folder: the bytes behind the output
// cache. Memory and Dir are engines; tooltest.Store holds the contract for others.
package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strings"
	"time"
)

// A Store keeps blobs by name. It is safe for concurrent use. A name is 1 to 200
// of A-Z a-z 0-9 _ - and, between them, "."; others are refused with an error
// that wraps [fs.ErrInvalid]. Errors for a name that is not there wrap
// [fs.ErrNotExist], for one that is [fs.ErrExist]. A context is for its call
// alone: it does not end what the call returned.
type Store interface {
	// Create begins a blob. It can be opened after its Commit. Of several writers
	// of one name the first to commit keeps it.
	Create(ctx context.Context, name string) (Writer, error)

	// Open opens a blob. It can be read until it is closed, also if it is
	// removed meanwhile.
	Open(ctx context.Context, name string) (Blob, error)

	// List yields what is kept, oldest use first.
	List(ctx context.Context) iter.Seq2[Info, error]

	// Remove removes a blob.
	Remove(ctx context.Context, name string) error
}

// A Writer takes the bytes of a blob. A write that fails drops it, and every
// later one fails too. It may have a method AvailableBuffer, as bytes.Buffer has:
// what is appended to that slice and written next needs no copy.
type Writer interface {
	io.Writer

	// Commit keeps the blob. Once it has returned nil, no crash of the process
	// loses it; a crash of the system may lose a blob of less than 4 MiB, but
	// never shows other bytes. Commit ends the writer, also if it fails.
	Commit() (Info, error)

	// Close drops what was not committed. It may be called at any time.
	Close() error
}

// A Blob is the content of a name. Readers may use it at the same time.
type Blob interface {
	io.ReaderAt
	io.Closer
	Info() Info

	// Line returns the offset at which a line begins, counted from 0; that of
	// the end for the number of lines. It does not read the whole blob.
	Line(n int64) (offset int64, err error)
}

// Info is what is known of a blob.
type Info struct {
	Name    string
	Size    int64 // bytes
	Lines   int64 // the last one counts also without an end
	Created time.Time
	Used    time.Time // created or opened last
}

// Options are limits; nil means defaults.
type Options struct {
	TTL time.Duration // blobs not used for that long are removed, unless they are being read; 7 days if 0, -1 for never
	Max int64         // bytes of all; 2 GiB for Dir and 256 MiB for Memory if 0. The least recently used go first, in Dir small ones of the same time together, never those being read. In Memory, writers that have not committed have as much again, together
}

// ErrFull reports that a blob is larger than all that may be kept, or than what
// is left beside the blobs being read.
var ErrFull = errors.New("the store is full")

// withDefaults returns the options with their defaults.
func (o *Options) withDefaults(most int64) Options {
	var all Options
	if o != nil {
		all = *o
	}
	all.TTL = cmp.Or(all.TTL, 7*24*time.Hour)
	all.Max = cmp.Or(all.Max, most)
	return all
}

func (o Options) isExpired(used, now time.Time) bool {
	return o.TTL > 0 && now.Sub(used) >= o.TTL
}

// full returns the error for a blob that has no place.
func (o Options) full() error {
	return fmt.Errorf("%w: it keeps at most %d bytes, and never drops what is being read", ErrFull, o.Max)
}

const maxName = 200

const nameBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-."

// begin checks what every call is given.
func begin(ctx context.Context, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if name == "" || len(name) > maxName || strings.Trim(name, ".") != name || strings.Trim(name, nameBytes) != "" {
		return fmt.Errorf(`%w name: use 1 to 200 of A-Z a-z 0-9 _ - and, between others, "."`, fs.ErrInvalid)
	}
	return nil
}

// now is the time without its monotonic reading, as it is kept.
func now() time.Time { return time.Unix(0, time.Now().UnixNano()) }

// failure says what could not be done with a blob.
func failure(doing, name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errDamaged):
		err = fs.ErrNotExist
	case errors.Is(err, fs.ErrExist):
		err = fs.ErrExist
	default:
		err = cause(err)
	}
	return fmt.Errorf("%s blob %.210q: %w", doing, name, err)
}

// cause leaves out where in the file system something failed: callers must
// not see it.
func cause(err error) error {
	var (
		path *fs.PathError
		link *os.LinkError
	)
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}
