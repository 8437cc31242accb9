package mcpserver

import (
	"context"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/internal/budget"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/observe"
)

// Every result finds room if its client reads, however long it is. One that finds none is
// not called one that was not made.
func TestRoomForResults(t *testing.T) {
	of := newHolders(budget.Limit{Number: 10, Bytes: 1 << 20})
	h := newHold(of, quotaHolder{identity: "a"}, 100)
	long := inMemory(strings.Repeat("x", 3<<20))
	if _, err := h.keep(long, nil); err != nil {
		t.Errorf("the first result: %v", err)
	}
	_, err := h.keep(long, nil)
	if err == nil || !strings.Contains(err.Error(), "was carried out") || !strings.Contains(err.Error(), "3145728 bytes") || !strings.Contains(err.Error(), "only if that is safe") {
		t.Errorf("a second result: %v", err)
	}
	h.release()
	if h = newHold(of, quotaHolder{identity: "a"}, 100); h == nil {
		t.Fatal("the room of results is not given back")
	}
	if _, err := h.keep(long, nil); err != nil {
		t.Errorf("a result after the first was read: %v", err)
	}
	h.release()
}

// A client can send two of the largest messages, also if they are calls.
func TestRoomForTheLargest(t *testing.T) {
	const largest = 200 << 20
	of := newMessageHolders(&Options{Limits: Limits{Body: largest}})
	for i := range 2 {
		if h := newHold(of, quotaHolder{identity: "a"}, largest); h == nil || !h.hasRoomToCall(of) {
			t.Errorf("there is no room for call %d", i+1)
		}
	}
}

// A panic while messages are taken does not keep their room.
func TestRoomAfterPanic(t *testing.T) {
	s, err := New(t.Context(), &watchedSource{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	d := s.core.newSession(opener{from: observe.Client{Identity: "a"}}).newDuplex(func(payload) error { return nil })
	msgs, batch, fault := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if fault != nil {
		t.Fatal(fault)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("it does not panic")
			}
		}()
		var none context.Context // of which no other can be made
		_ = d.deliver(none, msgs, batch, newHold(s.core.held, d.quotaHolder(), 100))
	}()
	if held := s.core.held.Of(d.quotaHolder()).Held(); held != (budget.Limit{}) {
		t.Errorf("%+v is held", held)
	}
}
