package connect

import (
	"errors"
	"fmt"
	"io"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/upstream"
)

// maxFindings is how many findings are reported, so that a server with many wrong tools
// does not hide what a command answers.
const maxFindings = 5

// ReportSkipped reports the servers that are skipped and what is wrong with tools, and
// returns an error if no server is left.
func (s *Session) ReportSkipped(w io.Writer) error {
	reached := 0
	for _, st := range s.Status {
		usable, problem := s.usability(st)
		if usable {
			reached++
		}
		if problem != "" {
			fmt.Fprintf(w, "toolpost: %s %s\n", s.serverName(st), problem)
		}
	}
	s.reportFindings(w)
	if s.Status != nil && len(s.Status) == 0 {
		return errors.New(`the configuration has no servers; add one under "mcpServers"`)
	}
	if s.Status != nil && reached == 0 {
		return errors.New("no server could be reached")
	}
	return nil
}

func (s *Session) reportFindings(w io.Writer) {
	for i, f := range s.Findings {
		if more := len(s.Findings) - i; i == maxFindings && more > 1 {
			fmt.Fprintf(w, "toolpost: %d more findings; toolpost doctor --all lists them\n", more)
			return
		}
		fmt.Fprintf(w, "toolpost: %s\n", FindingText(f))
	}
}

// usability reports whether tools of a server can be used, and what is wrong with it.
func (s *Session) usability(st upstream.Status) (usable bool, problem string) {
	switch {
	case st.State == upstream.Ready, st.Known:
		return true, ""
	case st.State == upstream.Waiting && s.Serve != "":
		return false, "is skipped: " + s.reasonAtServe(st.Name)
	case st.State == upstream.Disabled:
		return false, ""
	case st.State == upstream.Waiting:
		return false, "is skipped: it took long and listed nothing when it was started last; --fresh waits for it again"
	case st.Err != nil && st.Tools > 0: // which need no connection to be there
		return true, "cannot be used; its tools report the same error: " + st.Reason()
	case st.Err != nil:
		return false, "is skipped: " + st.Reason()
	}
	if reason := st.Reason(); reason != "" {
		return false, "is skipped: " + reason
	}
	return false, fmt.Sprintf("is skipped: it is still %s; allow more time with --timeout", st.State)
}

// reasonAtServe returns why the running serve does not have a server ready.
func (s *Session) reasonAtServe(server string) string {
	for _, r := range s.reports {
		if r.Status.Name == server && r.Reason != "" {
			return r.Reason
		}
	}
	return "toolpost serve, which runs, is still connecting to it"
}

// serverName names a server as the user did.
func (s *Session) serverName(st upstream.Status) string {
	if s.Address != "" {
		return "the server at " + s.Address
	}
	return fmt.Sprintf("server %q", st.Name)
}

// FindingText returns a finding in one line.
func FindingText(f toolpost.Finding) string {
	if f.Tool == "" {
		return f.Message
	}
	return fmt.Sprintf("tool %q: %s", f.Tool, f.Message)
}
