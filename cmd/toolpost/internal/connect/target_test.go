package connect

import (
	"testing"

	"github.com/toolpost/toolpost/upstream"
)

// More time does not help a program that writes something else than MCP.
func TestStrayOutput(t *testing.T) {
	usable, problem := usability(upstream.Status{Name: "a", State: upstream.Connecting, Output: "hello"})
	const want = `is skipped: it has not answered yet; it wrote "hello" to its stdout, which is not MCP: check that its command starts an MCP server on stdio`
	if usable || problem != want {
		t.Errorf("%v: %s", usable, problem)
	}
}
