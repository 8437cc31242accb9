package connect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/upstream"
)

// More time does not help a program that writes something else than MCP.
func TestStrayOutput(t *testing.T) {
	usable, problem := (&Session{}).usability(upstream.Status{Name: "a", State: upstream.Connecting, Output: "hello"})
	const want = `is skipped: it has not answered yet; it wrote "hello" to its stdout, which is not MCP: check that its command starts an MCP server on stdio`
	if usable || problem != want {
		t.Errorf("%v: %s", usable, problem)
	}
}

// TestManyFindings: a server with many wrong tools does not fill the screen.
func TestManyFindings(t *testing.T) {
	for n, want := range map[int]string{6: "toolpost: tool \"t5\": wrong\n", 150: "toolpost: 145 more findings; toolpost doctor --all lists them\n"} {
		s := &Session{}
		for i := range n {
			s.Findings = append(s.Findings, toolpost.Finding{Tool: fmt.Sprintf("t%d", i), Message: "wrong"})
		}
		var w strings.Builder
		if err := s.ReportSkipped(&w); err != nil || !strings.HasSuffix(w.String(), want) || strings.Count(w.String(), "\n") != 6 {
			t.Errorf("%d: %v\n%s", n, err, w.String())
		}
	}
}
