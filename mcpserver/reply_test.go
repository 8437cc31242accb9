package mcpserver

import "testing"

// The white space of a foreign result does not end a line of an event.
func TestEventOfOddWhiteSpace(t *testing.T) {
	if got, want := string(event("message", []byte("{\r\"a\":\r\n1}"))), "event: message\ndata: { \"a\": \ndata: 1}\n\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
