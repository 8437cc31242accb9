package provider_test

import (
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// endless is a reader without end, and without lines, that counts what is read.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read += int64(len(p))
	return len(p), nil
}

// TestLimitResponse reads no more of a response than its status is worth.
func TestLimitResponse(t *testing.T) {
	for _, status := range []int{200, 302, 400, 500} {
		body := &endless{}
		s := provider.NewSender("http://host", &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Body: io.NopCloser(body), Request: r}, nil
		})})
		res, err := s.Post(t.Context(), "a", nil, nil)
		most := int64(provider.MaxResponse)
		if status == 200 {
			_, err = io.Copy(io.Discard, res.Body)
			if err != provider.ErrTooLarge {
				t.Errorf("the error is %v", err)
			}
		} else if failed, ok := errors.AsType[*provider.StatusError](err); ok && failed.Status == status {
			most = 1 << 20
		}
		if body.read < most || body.read > most+1<<16 {
			t.Errorf("%d: read %d of %d bytes", status, body.read, most)
		}
	}
}

// TestLimit yields deltas for ever: one text is all that they take in memory.
func TestLimit(t *testing.T) {
	piece := strings.Repeat("x", 64<<10)
	origin := model.Origin{Provider: "p", Model: "m"}
	for name, test := range map[string]struct {
		delta *model.Delta
		want  int // deltas before the error
	}{
		"text":      {&model.Delta{Type: model.TypeText, Text: piece}, 128},
		"thinking":  {&model.Delta{Type: model.TypeThinking, Text: piece}, 128},
		"arguments": {&model.Delta{Type: model.TypeCall, Text: piece}, 128},
		"response": {&model.Delta{Response: &model.Response{Message: &model.Message{
			Parts: []model.Part{{Text: strings.Repeat(piece, 64)}, {Arguments: make([]byte, 4<<20+1)}},
		}}}, 0},
	} {
		var stream iter.Seq2[*model.Delta, error] = func(yield func(*model.Delta, error) bool) {
			for range 1000 {
				if !yield(test.delta, nil) {
					return
				}
			}
		}
		got, failed := 0, error(nil)
		for _, err := range provider.Limit(origin, stream) {
			if failed = err; err == nil {
				got++
			}
		}
		e, is := errors.AsType[*model.Error](failed)
		if !is || e.Temporary() || e.Origin != origin || got != test.want {
			t.Errorf("%s: %v after %d deltas, want %d", name, failed, got, test.want)
		}
	}
}

// TestLimitRestarts counts each attempt by itself, and passes errors on.
func TestLimitRestarts(t *testing.T) {
	half := strings.Repeat("x", provider.MaxWritten/2+1)
	cause := errors.New("cause")
	stream := func(yield func(*model.Delta, error) bool) {
		_ = yield(&model.Delta{Text: half}, nil) && yield(&model.Delta{Restart: &model.Error{}}, nil) &&
			yield(&model.Delta{Text: half}, nil) && yield(nil, cause)
	}
	var last error
	for _, err := range provider.Limit(model.Origin{}, stream) {
		last = err
	}
	if last != cause {
		t.Errorf("the stream ended with %v", last)
	}
}

func TestEvents(t *testing.T) {
	many := strings.Repeat("0,", provider.MaxValues)
	for data, want := range map[string]bool{
		`[0,[],{}]`:           true,
		`["` + many + `"]`:    true,
		`["\"` + many + `"]`:  true,
		`[` + many + `0,0]`:   false,
		`["\\",` + many + `]`: false,
		strings.Repeat("[", provider.MaxValues+1) + strings.Repeat("]", provider.MaxValues+1): false,
		strings.Repeat("[{},", provider.MaxValues/2):                                          false,
	} {
		for got, err := range provider.Events(strings.NewReader("data: "+data+"\n\n"), false) {
			if (err == nil) != want || len(got) != len(data)+1 || err != nil && !provider.IsTooMuch(err) {
				t.Errorf("%.20q (%d bytes): %d bytes, %v", data, len(data), len(got), err)
			}
		}
	}
	p := &model.Part{Arguments: []byte("[" + many + "0,0]")}
	(*provider.Toolset)(nil).DecodeCall(p, "f")
	if p.Invalid != provider.ManyValues || p.Arguments != nil {
		t.Errorf("the call has %d bytes, %q", len(p.Arguments), p.Invalid)
	}
	body := &endless{}
	for _, err := range provider.Events(body, false) {
		if err != provider.ErrLongEvent {
			t.Errorf("a line without end: %v", err)
		}
	}
	if body.read > provider.MaxEvent+1<<20 {
		t.Errorf("%d bytes of a line were read", body.read)
	}
}
