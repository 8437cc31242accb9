package encodings

import (
	"bytes"
	"context"
	"errors"
	"testing"
)

// TestDetect detects encodings of text that is not Unicode, and of much of it.
func TestDetect(t *testing.T) {
	for _, tt := range []struct {
		content []byte
		names   string
	}{
		{nil, "utf-8"},
		{[]byte("\x81\x98\x8d\xff"), "latin-1"},
		{[]byte("\x1b$B$\"\x1b(B"), "iso-2022-jp"},
		{[]byte("\x1b$B\x1b(B"), "utf-8"},
		{[]byte("a\x00b\x00"), "utf-16le, utf-16be"},
		{[]byte("a\x00\xff"), ""},
		{bytes.Repeat([]byte("\xff"), MaxTried+1), Names(legacy())},
	} {
		all, err := Detect(t.Context(), tt.content)
		if got := Names(all); got != tt.names || err != nil {
			t.Errorf("%.20q may be %s, %v, want %s", tt.content, got, err, tt.names)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if _, err := Detect(ctx, []byte("\xff")); err != why {
		t.Error(err)
	}
}
