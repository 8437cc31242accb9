package mcpserver

import (
	"net/http/httptest"
	"testing"
)

// The white space of a foreign result does not end a line of an event.
func TestEventOfOddWhiteSpace(t *testing.T) {
	w := httptest.NewRecorder()
	if err := writeEvent(w, "message", []byte("{\r\"a\":\r\n1}")); err != nil {
		t.Fatal(err)
	}
	if got, want := w.Body.String(), "event: message\ndata: { \"a\": \ndata: 1}\n\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
