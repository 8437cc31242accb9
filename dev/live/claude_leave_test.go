//go:build unix

package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	sdk "github.com/toolpost/toolpost/claude"
	stream "github.com/toolpost/toolpost/claude/message"
)

// sdkLeaveRun leaves the loop of a run when the model asks for a command that
// takes long: it is not finished, and the model is not asked again.
func sdkLeaveRun(s *stage) string {
	late := filepath.Join(s.opts.Dir, "late")
	s.opts.Tools, s.opts.AllowedTools = []string{"Bash"}, []string{"Bash"}
	s.says(call1("Bash", object{"command": "tail -f /dev/null; echo late > " + late, "description": "waits"}))
	for m, err := range sdk.Run(s.context(), "go", s.opts) {
		if err != nil {
			s.Fatal(err)
		}
		if a, ok := m.(*stream.Assistant); ok && len(a.Content) > 0 && a.Content[0].Kind() == "tool_use" {
			break
		}
	}
	if _, err := os.Stat(late); !errors.Is(err, os.ErrNotExist) {
		s.Errorf("the command was finished: %v", err)
	}
	if n := len(s.api.requests()); n != 1 {
		last := s.api.requests()[n-1].Messages
		s.Errorf("the model was asked %d times, the last time %s", n, last[len(last)-1].Content)
	}
	return "interrupted"
}

// sdkLeaveTurn leaves the loop of a turn while text streams; the next one has its
// own messages only.
func sdkLeaveTurn(s *stage) string {
	began := make(chan struct{}, 9)
	s.says(talking(began))
	s.opts.PartialMessages = true
	session := s.open()
	for m, err := range session.Turn(s.context(), "go") {
		if err != nil {
			s.Fatal(err)
		}
		if m.Head().Type == "stream_event" {
			break
		}
	}
	s.says(text("mine"))
	s.turn(session, "go on", "mine")
	return "interrupted, then the next turn"
}

// sdkTakeBack ends the context of a turn that waits for another one.
func sdkTakeBack(s *stage) string {
	began, release := make(chan struct{}), make(chan struct{})
	s.says(func(a *apiAnswer) {
		close(began)
		a.hold(release)
		text("one")(a)
	})
	session := s.open()
	if _, err := session.Send(s.context(), "first"); err != nil {
		s.Fatal(err)
	}
	receive(s, "the model is asked", began)
	ctx, cancel := context.WithCancel(s.context())
	defer cancel()
	var last error
	for m, err := range session.Turn(ctx, "second") {
		if l, ok := m.(*stream.CommandLifecycle); ok && l.State == "queued" {
			cancel()
		}
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		s.Errorf("the turn that waited ended by %v", last)
	}
	close(release)
	for m, err := range session.Messages(s.context()) {
		if err != nil {
			s.Fatal(err)
		}
		if r, ok := m.(*stream.Result); ok {
			if r.IsError || r.Result == nil || *r.Result != "one" {
				s.Errorf("the turn that ran came to %s", r.Raw)
			}
			break
		}
	}
	if n := s.api.heard("second"); n != 0 {
		s.Errorf("the model was asked %d times what was taken back", n)
	}
	return "the other turn goes on"
}

// sdkShell leaves a shell running after the first result. The shell is not
// killed, and the turn that its end causes may call a tool of this process.
func sdkShell(s *stage) string {
	finished := filepath.Join(s.opts.Dir, "finished")
	s.opts.Tools, s.opts.AllowedTools = []string{"Bash"}, []string{"Bash"}
	s.serve(false, add())
	s.says(
		call1("Bash", object{"command": "sleep 1; touch " + finished, "description": "waits", "run_in_background": true}),
		text("Started."),
		uses(use{"toolu_after", "mcp__calc__add", sum{2, 3}}),
		text("All is done."),
	)
	var results []string
	for m, err := range sdk.Run(s.context(), "go", s.opts) {
		if err != nil {
			s.Fatal(err)
		}
		if r, ok := m.(*stream.Result); ok && r.Result != nil {
			results = append(results, *r.Result)
		}
	}
	if _, err := os.Stat(finished); err != nil {
		s.Errorf("the shell was killed: %v", err)
	}
	s.got("toolu_after", "5")
	if !slices.Equal(results, []string{"Started.", "All is done."}) {
		s.Errorf("the results are %q", results)
	}
	return fmt.Sprintf("%q", results)
}

// sdkVerbatim mentions a file in prompts: the model gets the text, and the file
// only if the prompts may be expanded.
func sdkVerbatim(s *stage) string {
	secret := filepath.Join(s.opts.Dir, "secret.txt")
	write(s.T, secret, "the-secret-is-42")
	if _, err := s.run("look at @" + secret + " please"); err != nil {
		s.Fatal(err)
	}
	if _, err := sdk.Collect(sdk.Run(s.context(), "look at", s.opts, sdk.Text("@"+secret))); err != nil {
		s.Fatal(err)
	}
	if _, err := s.run("/cost"); err != nil {
		s.Fatal(err)
	}
	s.saw("/cost")
	s.saw("look at @" + secret + " please")
	if n := s.api.heard("the-secret-is-42"); n != 0 {
		s.Errorf("%d requests have the content of the file", n)
	}
	s.opts.ExpandPrompts = true
	if _, err := s.run("look at @" + secret); err != nil {
		s.Fatal(err)
	}
	s.saw("the-secret-is-42")
	return "no file is read, no command is run"
}

// sdkAgentServer delegates to an agent whose server the main agent does not have.
func sdkAgentServer(s *stage) string {
	command := poison(s.T, "", filepath.Join(s.TempDir(), "log"))
	s.opts.Tools, s.opts.AllowedTools = []string{"Task"}, []string{"Task", "mcp__ext"}
	s.opts.Agents = map[string]*sdk.Subagent{"caller": {
		Description: "Calls a tool.", Prompt: "You call a tool.",
		OwnServers: map[string]*sdk.MCPServer{"ext": {Command: command[0], Args: command[1:], AlwaysLoad: true}},
	}}
	s.says(call1("Agent", object{"description": "call", "prompt": "SUBTASK: call", "subagent_type": "caller"}))
	s.api.rest = func(in apiRequest) say {
		if first := string(in.Messages[0].Content); strings.Contains(first, "SUBTASK") && !strings.Contains(in.body, "toolu_sub") {
			return uses(use{"toolu_sub", "mcp__ext__good", object{"text": "x"}})
		}
		return text("Done.")
	}
	if r, err := s.run("please delegate"); err != nil || r.Result != "Done." {
		s.Fatalf("%+v, %v", r, err)
	}
	s.saw("good got")
	if first := s.api.requests()[0]; slices.ContainsFunc(first.Tools, func(t struct{ Name string }) bool { return strings.HasPrefix(t.Name, "mcp__ext") }) {
		s.Error("the main agent has the server of the other")
	}
	return "the agent called its server"
}

// sdkManaged denies a tool that the options allow.
func sdkManaged(s *stage) string {
	s.serve(false, add())
	s.opts.AllowDropped = true
	s.opts.ManagedSettings = map[string]any{"permissions": map[string]any{"deny": []string{"mcp__calc__add"}}}
	session := s.open()
	s.says(call1("mcp__calc__add", sum{2, 3}), text("No."))
	s.turn(session, "add", "No.")
	if got := s.api.result("toolu_1"); !strings.Contains(got, "No such tool") && !strings.Contains(got, "denied") {
		s.Errorf("the call of a denied tool gives %s", got)
	}
	return "a tool that is allowed is denied"
}

// sdkPrompts sends prompts from a sequence: one that only adds to the conversation,
// one that the model is silent about, and one that interrupts it.
func sdkPrompts(s *stage) string {
	asked := make(chan struct{}, 1)
	s.says(silent(asked), text("Now."))
	prompts := func(yield func(sdk.Prompt) bool) {
		_ = yield(sdk.Prompt{Text: "this-comes-first", NoTurn: true}) && yield(sdk.Prompt{Text: "wait", Blocks: []sdk.Block{sdk.Text("a-block")}})
		<-asked
		yield(sdk.Prompt{Text: "and-now-this", Priority: "now"})
	}
	r, err := sdk.Collect(sdk.RunPrompts(s.context(), prompts, s.opts))
	if r == nil || r.Result != "Now." {
		s.Fatalf("%+v, %v", r, err)
	}
	first := s.api.requests()[0].body
	for _, text := range []string{"this-comes-first", "wait", "a-block"} {
		if !strings.Contains(first, text) {
			s.Errorf("the first request lacks %s: %.3000s", text, first)
		}
	}
	s.saw("and-now-this")
	return fmt.Sprintf("%d requests, the last prompt interrupted (%v)", len(s.api.requests()), err)
}
