// Package store keeps named blobs: the bytes behind the output cache. Memory
// and Dir are engines; storetest.Run holds the contract for others.
package store

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"
)

// A Store keeps blobs by name. It is safe for concurrent use. A name is 1 to 200
// of A-Z a-z 0-9 _ - and, between others, "."; others are refused. Errors for a
// name that is not there wrap [fs.ErrNotExist], for one that is [fs.ErrExist].
type Store interface {
	// Create begins a blob. Nobody sees it before its Commit.
	Create(ctx context.Context, name string) (Writer, error)

	// Open opens a blob. It can be read until it is closed, also if it is
	// removed meanwhile.
	Open(ctx context.Context, name string) (Blob, error)

	// List yields what is kept, oldest use first.
	List(ctx context.Context) iter.Seq2[Info, error]

	// Remove removes a blob.
	Remove(ctx context.Context, name string) error
}

// A Writer takes the bytes of a blob.
type Writer interface {
	io.Writer

	// Commit keeps the blob: once it has returned nil, no crash loses it.
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
	TTL time.Duration // blobs not used for that long are removed; 7 days if 0, -1 for never
	Max int64         // bytes of all; 2 GiB for Dir and 256 MiB for Memory if 0. The least recently used go first, never those being read
}

// ErrFull reports that a blob is larger than all that may be kept.
var ErrFull = errors.New("the store is full")

// Memory returns a Store in memory.
func Memory(opts *Options) Store { return nil }

// Dir returns a Store in a folder, which is created if it is not there. It is
// for the owner only, and may be used by several processes.
func Dir(path string, opts *Options) (Store, error) { return nil, errors.ErrUnsupported }
