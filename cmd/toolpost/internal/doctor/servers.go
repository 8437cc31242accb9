package doctor

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/upstream"
)

// A Server is what doctor reports about one server.
type Server struct {
	Name      string `json:"name"`
	State     string `json:"state"` // ready, failed, disabled and the like
	Transport string `json:"transport,omitempty"`
	Version   string `json:"protocolVersion,omitempty"`
	Tools     int    `json:"tools"`
	StartMS   int64  `json:"startMs"` // time to connect and to list, in milliseconds; 0 if it is not ready
	Error     string `json:"error,omitempty"`
}

// slowStart is the time to connect from which a server counts as slow: clients
// wait so long for its first answer when no catalogue is known yet.
const slowStart = 10 * time.Second

// Servers examines the state of servers that have had time to connect.
func Servers(status []upstream.Status) (servers []Server, findings []Finding) {
	for _, st := range status {
		s := Server{Name: st.Name, State: string(st.State), Transport: string(st.Transport), Version: st.Version, Tools: st.Tools}
		if st.State == upstream.Ready {
			s.StartMS = st.Took.Milliseconds()
		}
		if st.Err != nil {
			s.Error = strings.TrimPrefix(st.Err.Error(), fmt.Sprintf("server %q: ", st.Name))
		}
		servers = append(servers, s)
		if f, found := ailment(&st, s.Error); found {
			f.Server = st.Name
			findings = append(findings, f)
		}
	}
	return servers, findings
}

// ailment returns what is wrong with one server.
func ailment(st *upstream.Status, reason string) (Finding, bool) {
	key := fmt.Sprintf("mcpServers.%s", st.Name)
	switch {
	case st.State == upstream.Disabled:
		return Finding{}, false
	case needsLogin(st.Err) != nil:
		return Finding{ID: "login-needed", Severity: Error, Message: reason, Fix: needsLogin(st.Err).Command}, true
	case st.Err != nil:
		return Finding{ID: "server-failed", Severity: Error, Message: reason,
			Fix: fmt.Sprintf(`correct %s, or add "disabled": true to it; the other servers are served meanwhile`, key)}, true
	case st.State != upstream.Ready:
		return Finding{ID: "server-waiting", Severity: Error, Message: fmt.Sprintf("the server is still %s", st.State),
			Fix: "allow more time with --timeout 5m; if that is not enough, run the command by hand and see what it waits for"}, true
	case st.Took > slowStart:
		return Finding{ID: "server-slow", Severity: Warning, Message: fmt.Sprintf("the server needed %.0f s to connect and to list its tools", st.Took.Seconds()),
			Fix: fmt.Sprintf("install its package, and name the installed program in %s.command instead of a package runner such as npx", key)}, true
	}
	return Finding{}, false
}

// needsLogin returns the error of a server that wants a login, nil if it is another.
func needsLogin(err error) *upstream.LoginError {
	login, _ := errors.AsType[*upstream.LoginError](err)
	return login
}

// Gateway turns what the gateway reports about the tools of all servers, and
// the tools that wait for an approval, into findings. Approve returns the
// command that approves the tools of a server.
func Gateway(s *gateway.Snapshot, file string, approve func(server string) string) (all []Finding) {
	for _, w := range s.Withheld {
		all = append(all, Finding{ID: "pin-changed", Severity: Error, Server: w.Server, Tool: w.Name,
			Message: "clients do not get the tool: " + w.Why, Fix: approve(w.Server)})
	}
	for _, f := range s.Findings {
		about := file != "" && strings.HasPrefix(f.Message, file+":")  // Configuration examines the file
		if about || strings.Contains(f.Message, "withheld, because") { // a withheld tool is reported above
			continue
		}
		all = append(all, Finding{ID: idOf(f), Severity: Warning, Tool: f.Tool, Message: f.Message})
	}
	return all
}

// idOf names the kind of a finding of the gateway.
func idOf(f toolpost.Finding) string {
	switch {
	case strings.Contains(f.Message, "more than once"), strings.Contains(f.Message, "same name"), strings.Contains(f.Message, "is taken"), strings.Contains(f.Message, "called"):
		return "name-collision"
	case strings.Contains(f.Message, "match"):
		return "filter-unused"
	}
	return "tool-left-out"
}
