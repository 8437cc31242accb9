package provider

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/sse"
)

// The limits of a response. They are far above what models write: a million
// tokens are about 4 MiB of text.
const (
	MaxResponse = 64 << 20 // bytes as they arrive
	MaxEvent    = 32 << 20 // bytes of one event of the stream, which may contain an image
	MaxWritten  = 8 << 20  // bytes of texts, thinking and arguments together
	MaxParts    = 2000     // texts, calls and other parts
	MaxValues   = 1 << 18  // values of JSON in one event, or in the arguments of a call
)

// A LimitError reports a response that is longer than a limit. The rest of it is
// not read. The same request would only end the same way.
type LimitError string

func (e LimitError) Error() string {
	return "the response has more than " + string(e) + ", which no model writes; check the base URL and the model"
}

// The limits that more than one place checks.
const (
	ErrTooLarge     = LimitError("64 MiB")
	ErrLongEvent    = LimitError("32 MiB in one event")
	ErrTooManyParts = LimitError("2000 parts")
)

// IsTooMuch reports whether err is a [LimitError].
func IsTooMuch(err error) bool {
	_, is := errors.AsType[LimitError](err)
	return is
}

// A limitedBody is the body of a response. It fails with [ErrTooLarge] if that is longer.
type limitedBody struct {
	io.ReadCloser
	left int64
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, ErrTooLarge
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// Events yields the data of each event of a stream, as [sse.Events] does, within
// the limits of an event.
func Events(body io.Reader, open bool) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for data, err := range sse.Events(body, open, MaxEvent, ErrLongEvent) {
			if err == nil {
				err = CheckEvent(data)
			}
			if !yield(data, err) || err != nil {
				return
			}
		}
	}
}

// ReadDocument reads the answer of a server that does not stream.
func ReadDocument(body io.Reader) ([]byte, error) {
	data, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	return data, CheckEvent(data)
}

// CheckEvent returns the error of an event that would take too much memory once
// it is decoded.
func CheckEvent(data []byte) error {
	if HasManyValues(data) {
		return LimitError(fmt.Sprintf("%d values in one event", MaxValues))
	}
	return nil
}

// HasManyValues reports whether JSON has more than MaxValues values. A value takes
// a hundred bytes and more in a tree, and two in JSON.
func HasManyValues(data []byte) bool {
	count := 0
	for _, c := range []string{",", "[", "{"} {
		count += bytes.Count(data, []byte(c))
	}
	if count <= MaxValues {
		return false
	}
	count = 0
	for within, i := false, 0; i < len(data); i++ { // count again, without those in strings
		switch c := data[i]; {
		case within && c == '\\':
			i++
		case c == '"':
			within = !within
		case !within && (c == ',' || c == '[' || c == '{'):
			count++
		}
	}
	return count > MaxValues
}

// Limit yields a stream, or the error of a response that is longer than a model
// writes.
func Limit(origin model.Origin, stream iter.Seq2[*model.Delta, error]) iter.Seq2[*model.Delta, error] {
	return func(yield func(*model.Delta, error) bool) {
		written := 0
		for d, err := range stream {
			if err == nil {
				if d.Restart != nil {
					written = 0
				}
				written += len(d.Text)
				if written > MaxWritten || lengthOf(d.Response) > MaxWritten {
					yield(nil, &model.Error{Origin: origin, Kind: model.KindInvalid, Text: errTooLong.Error()})
					return
				}
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

const errTooLong = LimitError("8 MiB of text, thinking and arguments")

// lengthOf returns the bytes of a response that the model wrote.
func lengthOf(r *model.Response) (n int) {
	if r == nil || r.Message == nil {
		return 0
	}
	for i := range r.Message.Parts {
		n += len(r.Message.Parts[i].Text) + len(r.Message.Parts[i].Arguments)
	}
	return n
}
