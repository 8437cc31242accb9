package mcpserver

import (
	"strings"
	"testing"
)

// The white space of a foreign result does not end a line of an event.
func TestEventOfOddWhiteSpace(t *testing.T) {
	var got strings.Builder
	err := event("message").write(&got, inMemory("{\r\"a\":\r\n1}"), func() {})
	if want := "event: message\ndata: { \"a\": \ndata: 1}\n\n"; got.String() != want || err != nil {
		t.Errorf("got %q, %v, want %q", got.String(), err, want)
	}
}
