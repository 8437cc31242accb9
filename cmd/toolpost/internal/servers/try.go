package servers

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/configfile"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/upstream"
)

// longestTry bounds a try, which may install packages first. A server that answers wrong or
// not at all is given up much earlier: see [upstream.Config].ConnectTimeout.
const longestTry = 5 * time.Minute

// mostProblems is how many problems of tools a try shows, so that the screen has what is
// before them too.
const mostProblems = 5

// maxFaultLines and maxFaultLine are how many lines, and bytes of a line, are shown of what
// a server wrote before it failed.
const maxFaultLines, maxFaultLine = 12, 300

// A trial is what one start of a server showed.
type trial struct {
	tools    int
	server   string   // name and version the server gave
	problems []string // about single tools
	fault    string   // why the server cannot be used, empty if it can
	login    bool     // the fault is that it wants a login
	missing  bool     // it was not started, because variables are not set
}

// try starts the new server of a configuration once, and ends it.
func try(cmd *cobra.Command, file string, data []byte, name string) (*trial, error) {
	cfg, err := configfile.Load(file, data)
	if err != nil {
		return nil, err
	}
	one := &config.Config{}
	for _, s := range cfg.Servers {
		if s.Name == name {
			one.Servers = append(one.Servers, s)
		}
	}
	if len(one.Servers) == 1 && one.Servers[0].Err != nil {
		return &trial{fault: one.Servers[0].Err.Error(), missing: true}, nil
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "Starting %s once to see what it lists; --no-try leaves this out.\n", cleartext.Printable(name))
	target := connect.Target{Timeout: longestTry}
	session, err := target.OpenServers(cmd, one, nil)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	t := &trial{}
	for _, f := range session.Findings {
		t.problems = append(t.problems, connect.FindingText(f))
	}
	for _, st := range session.Status {
		t.tools, t.server = st.Tools, st.Server
		switch _, login := errors.AsType[*upstream.LoginError](st.Err); {
		case st.Err != nil:
			t.fault, t.login = st.Reason(), login
		case st.State != upstream.Ready:
			t.fault = fmt.Sprintf("it is still %s after %v", st.State, longestTry)
		}
	}
	return t, nil
}

// tryFirst starts the server that is to be added once, unless the user does not want it, and
// shows what it lists. It reports whether the server is to be added.
func (a *adding) tryFirst(cmd *cobra.Command, name string, after []byte) (bool, error) {
	if a.noTry || a.disabled {
		return true, nil
	}
	p := cli.NewPrompter(cmd)
	t, err := try(cmd, a.target.file, after, name)
	if err != nil {
		return false, err
	}
	page := terminal.NewPage(p.Out)
	t.write(page, name)
	_ = page.Flush() // a reader that is gone has no use for the rest either
	switch {
	case t.fault == "" || t.missing:
		a.works = !t.missing
		return true, nil
	case a.target.yes:
		fmt.Fprintln(p.Out, "It is added, because you gave --yes.")
		return true, nil
	case t.login:
		return p.AskYes(cmd.Context(), "Add it? You can log in then.")
	}
	return p.Ask(cmd.Context(), "Add it nevertheless?")
}

// write shows what the start of a server showed.
func (t *trial) write(page *terminal.Page, name string) {
	label := cleartext.Printable(name) + ": "
	switch {
	case t.missing:
		page.Line(label, "it was not started: "+t.fault)
		return
	case t.fault != "":
		first, rest, _ := strings.Cut(t.fault, "\n")
		page.Line(label, "it cannot be used: "+first)
		lines := strings.Split(rest, "\n")
		for _, line := range lines[max(0, len(lines)-maxFaultLines):] {
			if line == "" {
				continue
			}
			page.Line("    ", cleartext.Clip(strings.TrimSpace(line), maxFaultLine))
		}
		return
	}
	what := terminal.Count(t.tools, "tool")
	if t.server != "" {
		what = t.server + " lists " + what
	}
	if t.tools > 0 {
		what += "; serve pins their definitions when it starts the server first"
	}
	page.Line(label, what)
	for _, text := range t.problems[:min(len(t.problems), mostProblems)] {
		page.Line("    ", text)
	}
	if more := len(t.problems) - mostProblems; more > 0 {
		page.Line("    ", fmt.Sprintf("and %d more", more))
	}
}
