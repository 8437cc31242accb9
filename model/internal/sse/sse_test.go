package sse_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/toolpost/toolpost/model/internal/sse"
)

func TestEvents(t *testing.T) {
	for _, test := range []struct {
		text string
		open bool
		want []string
	}{
		{"data: a\n\ndata: b\n\n", false, []string{"a\n", "b\n"}},
		{"event: x\r\ndata: a\r\nid: 1\r\ndata:b\r\n\r\n: comment\r\n\r\n", false, []string{"a\nb\n"}},
		{"data: a\n\ndata: b\n", false, []string{"a\n"}},
		{"data: a\n\ndata: b\n", true, []string{"a\n", "b\n"}},
		{"data: a\n\ndata: b", true, []string{"a\n", "b\n"}},
		{"\n\n\ndata\n\n", false, []string{"\n"}},
		{"", true, nil},
		{"data: " + strings.Repeat("x", 1<<20) + "\n\n", false, []string{strings.Repeat("x", 1<<20) + "\n"}},
	} {
		var got []string
		for data, err := range sse.Events(iotest.HalfReader(strings.NewReader(test.text)), test.open, 2<<20, nil) {
			if err != nil {
				t.Errorf("%.40q: %v", test.text, err)
			}
			got = append(got, string(data))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%.40q, %v: %.40q", test.text, test.open, got)
		}
	}
	broken := errors.New("broken")
	for data, err := range sse.Events(iotest.ErrReader(broken), true, 100, nil) {
		if err != broken || data != nil {
			t.Errorf("%q, %v", data, err)
		}
	}
}

// TestLinear reads a long line in small pieces.
func TestLinear(t *testing.T) {
	const size = 4 << 20
	reads := iotest.OneByteReader(strings.NewReader("data: " + strings.Repeat("x", size) + "\n\n"))
	for data, err := range sse.Events(reads, false, size+len("data: "), nil) {
		if err != nil || len(data) != size+1 {
			t.Errorf("%d bytes, %v", len(data), err)
		}
	}
}

// TestTooLong ends at a line, and at an event, that is longer than the caller takes.
func TestTooLong(t *testing.T) {
	tooLong := errors.New("too long")
	for text, want := range map[string]int{
		"data: 0123\n\ndata: 0123456789\n\n":           1,
		"data: 0123\n\ndata: 01\ndata: 23\ndata: 45\n": 1,
		"data: 0123\n\n: 01234567890":                  1,
		"data: 0123\n\ndata: 0123\n\n":                 2,
	} {
		events, failed := 0, error(nil)
		for _, err := range sse.Events(strings.NewReader(text), true, 12, tooLong) {
			if failed = err; err == nil {
				events++
			}
		}
		if events != want || (failed == tooLong) != (want == 1) {
			t.Errorf("%q: %d events, %v", text, events, failed)
		}
	}
}
