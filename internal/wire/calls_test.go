package wire

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
)

func TestCalls(t *testing.T) {
	var c Calls
	first, err := c.Begin()
	if err != nil {
		t.Fatal(err)
	}
	second, _ := c.Begin()
	if string(first.ID) == string(second.ID) {
		t.Fatalf("two requests have the id %s", first.ID)
	}
	for _, odd := range []string{"99", `"x"`, "1.5", "null", ""} {
		if c.Answer(&Message{ID: json.RawMessage(odd)}) {
			t.Errorf("the answer to %q was taken", odd)
		}
	}
	if !c.Answer(&Message{ID: json.RawMessage(`"` + string(second.ID) + `"`), Method: "b"}) || !c.Answer(&Message{ID: json.RawMessage(string(first.ID) + ".0"), Method: "a"}) {
		t.Error("an id in another form was not recognized")
	}
	if c.Answer(&Message{ID: first.ID}) {
		t.Error("a second answer was taken")
	}
	for p, want := range map[*Pending]string{first: "a", second: "b"} {
		if m, err := p.Wait(t.Context()); err != nil || m.Method != want {
			t.Errorf("got %q %v, want %q", m.Method, err, want)
		}
		p.End()
	}
	third, _ := c.Begin()
	ctx, cancel := context.WithCancelCause(t.Context())
	left := errors.New("left")
	cancel(left)
	if _, err := third.Wait(ctx); !errors.Is(err, left) {
		t.Errorf("got %v", err)
	}
	lost := errors.New("lost")
	c.Close(lost)
	c.Close(left)
	if _, err := third.Wait(t.Context()); !errors.Is(err, lost) {
		t.Errorf("got %v", err)
	}
	if _, err := c.Begin(); !errors.Is(err, lost) {
		t.Errorf("got %v", err)
	}
}

func TestServed(t *testing.T) {
	var s Served
	one := json.RawMessage("1")
	ctx, end, err := s.Begin(t.Context(), one)
	if err != nil {
		t.Fatal(err)
	}
	var fault *Error
	if _, _, err := s.Begin(t.Context(), one); !errors.As(err, &fault) || fault.Code != CodeInvalidRequest {
		t.Fatalf("a second request with the id: %v", err)
	}
	cause := errors.New("canceled")
	if s.Cancel(json.RawMessage(`"1"`), cause) || !s.Cancel(one, cause) {
		t.Error("the wrong request was canceled")
	}
	if !errors.Is(context.Cause(ctx), cause) {
		t.Errorf("cause: %v", context.Cause(ctx))
	}
	end(nil)
	if s.Cancel(one, cause) || s.Len() != 0 {
		t.Error("the request is still known")
	}
	again, endAgain, err := s.Begin(t.Context(), one)
	if err != nil {
		t.Fatal(err)
	}
	if end(nil); s.Len() != 1 {
		t.Error("the end of the first request is that of the second")
	}
	closed := errors.New("closed")
	s.Close(closed)
	if !errors.Is(context.Cause(again), closed) {
		t.Errorf("cause: %v", context.Cause(again))
	}
	if _, _, err := s.Begin(t.Context(), json.RawMessage("2")); !errors.Is(err, closed) {
		t.Errorf("after Close: %v", err)
	}
	endAgain(nil)
}

// A request whose answer cannot be read fails, and no other.
func TestCallFails(t *testing.T) {
	var c Calls
	first, _ := c.Begin()
	second, _ := c.Begin()
	defer first.End()
	defer second.End()
	fault := errors.New("too long")
	if !c.Fail([]byte(`"`+string(first.ID)+`"`), fault) || c.Fail(first.ID, fault) || first.Number() >= second.Number() {
		t.Error("a request fails once")
	}
	if _, err := first.Wait(t.Context()); err != fault {
		t.Errorf("got %v", err)
	}
	c.Answer(&Message{ID: second.ID, Method: "x"})
	if m, err := second.Wait(t.Context()); err != nil || m.Method != "x" {
		t.Errorf("got %+v, %v", m, err)
	}
}

// A file is an answer that holds something.
type file struct{ closed chan bool }

func (f file) Error() string { return "it is in a file" }
func (f file) Close()        { f.closed <- true }

func TestAnswerThatNobodyTakesIsClosed(t *testing.T) {
	var c Calls
	p, _ := c.Begin()
	held := file{make(chan bool, 1)}
	if !c.Fail(p.ID, held) {
		t.Fatal("the answer was not taken")
	}
	p.End()
	if len(held.closed) != 1 {
		t.Error("the answer is still open")
	}
}
