package claude_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/message"
)

// fakes play what no recording has.
var fakes = map[string]func(*fake){
	"echo":        echo,
	"obedient":    obedient,
	"strange":     strange,
	"malformed":   malformed,
	"long":        long,
	"old":         old,
	"deaf":        deaf,
	"told":        told,
	"queued":      queued,
	"dialog":      dialog,
	"unreadable":  unreadable,
	"unfinished":  unfinished,
	"huge":        huge,
	"killed":      killed,
	"mute":        func(f *fake) { f.request("initialize") },
	"stubborn":    stubborn,
	"exits":       exits,
	"unknown id":  unknownID,
	"background":  background,
	"coalesced":   coalesced,
	"duplicates":  duplicates,
	"cancels":     cancels,
	"calls":       calls,
	"interrupts":  interrupts,
	"lists":       lists,
	"user lines":  userLines,
	"interrupted": interrupted,
	"warnings":    warnings,
	"initialize":  echoInitialize,
	"mirrored":    mirrored,
	"continued":   continued,
}

// begin introduces both sides to each other.
func (f *fake) begin() (initialize line) {
	initialize = f.initialize()
	return initialize
}

// echo answers every prompt with its text.
func echo(f *fake) {
	names := toolNames(f.begin())
	for {
		l := f.take("a prompt", isUser)
		if l == nil {
			return
		}
		f.write(state("running"), initLine(names), assistant(promptText(l)),
			result(promptText(l), object{"user_message_uuids": []any{l.text("uuid")}}), state("idle"))
	}
}

// strange says what no SDK knows yet, and what is not JSON.
func strange(f *fake) {
	names := toolNames(f.begin())
	uuid := f.prompt()
	block := assistant("")
	block["message"].(object)["content"] = []any{
		object{"type": "text", "text": "known"}, object{"type": "hologram", "depth": 3},
	}
	f.write(
		"[SandboxDebug] this is no JSON", "", initLine(names), object{"type": "keep_alive"},
		object{"type": "brand_new", "uuid": "u"}, system("never_seen", object{"x": 1}), block,
		object{"type": "control_request", "request_id": "odd", "request": object{"subtype": "dance"}},
		object{"type": "control_response", "response": object{"subtype": "success", "request_id": "nobody's"}},
		object{"type": "control_cancel_request", "request_id": "nobody's"},
		`["no object"]`,
	)
	if l := f.answer("odd"); l.text("response", "subtype") != "error" {
		complain("an unknown request is answered with %s", encode(l))
	}
	f.write(result("fine", object{"user_message_uuids": []any{uuid}, "surprise": true}), state("idle"))
}

// malformed says a message of a known type with a field of another type.
func malformed(f *fake) {
	f.begin()
	f.prompt()
	f.write(initLine(nil), object{"type": "assistant", "message": 5, "session_id": session, "uuid": "u"}, "{broken", result("after it", nil), state("idle"))
}

func long(f *fake) {
	f.begin()
	f.prompt()
	text := strings.Repeat("long ", 3<<20/5)
	f.write(initLine(nil), assistant(text), result(text, nil), state("idle"))
}

func killed(f *fake) {
	f.begin()
	f.prompt()
	f.write(initLine(nil), assistant("half"))
	syscall.Kill(os.Getpid(), syscall.SIGKILL) //nolint:errcheck // it has no time to fail
	select {}
}

// stubborn does not end with its input.
func stubborn(f *fake) {
	echo(f)
	select {}
}

func exits(f *fake) {
	f.begin()
	f.prompt()
	f.write(initLine(nil))
	fmt.Fprintln(os.Stderr, "out of cheese")
	os.Exit(3)
}

// unknownID is what the CLI does on --resume of a session that it does not have.
func unknownID(f *fake) {
	f.write(result("", object{"subtype": "error_during_execution", "is_error": true, "result": nil,
		"errors": []any{"No conversation found with session ID: 1"}}))
	os.Exit(1)
}

// background has a sub-agent that calls a tool after the first result.
func background(f *fake) {
	names := toolNames(f.begin())
	uuid := f.prompt()
	f.write(state("running"), initLine(names),
		system("task_started", object{"task_id": "t1", "tool_use_id": "toolu_a", "task_type": "local_agent", "description": "work"}),
		result("launched", object{"user_message_uuids": []any{uuid}}))
	text := f.call("late", "tools", "shout", object{"text": "from the sub-agent"})
	f.write(
		system("task_notification", object{"task_id": "t1", "status": "completed", "summary": "did it", "output_file": ""}),
		initLine(names), assistant(encode(text.at("response", "response", "mcp_response", "result"))),
		result("all done", object{"origin": object{"kind": "task-notification"}, "result_index": 1}), state("idle"))
}

// coalesced answers three prompts with two results.
func coalesced(f *fake) {
	f.begin()
	first := f.prompt()
	f.write(state("running"), initLine(nil))
	second, third := f.prompt(), f.prompt()
	f.write(result("one", object{"user_message_uuids": []any{first}}),
		initLine(nil), result("two and three", object{"user_message_uuids": []any{second, third}}), state("idle"))
}

// duplicates uses the same id for two requests, and answers one twice.
func duplicates(f *fake) {
	l := f.begin()
	f.write(success(l.text("request_id"), object{"again": true}))
	f.prompt()
	f.write(initLine(toolNames(l)))
	f.write(callOf("same", "tools", "shout", object{"text": "a"}), callOf("same", "tools", "shout", object{"text": "b"}))
	f.answer("same")
	f.answer("same")
	f.write(result("both", nil), state("idle"))
}

// cancels a call when the host sends a prompt.
func cancels(f *fake) {
	names := toolNames(f.begin())
	f.prompt()
	f.write(initLine(names), callOf("slow", "tools", "wait", object{}))
	f.prompt()
	f.write(object{"type": "control_cancel_request", "request_id": "slow"})
	f.prompt()
	f.write(result("cancelled", nil), state("idle"))
}

// calls the tool shout once for each prompt, and answers with what it said.
func calls(f *fake) {
	names := toolNames(f.begin())
	for i := 0; ; i++ {
		l := f.take("a prompt", isUser)
		if l == nil {
			return
		}
		answer := f.call(fmt.Sprint("call_", i), "shared", "shout", object{"text": promptText(l)})
		parts := linesOf(answer.at("response", "response", "mcp_response", "result", "content"))
		f.write(initLine(names), result(parts[0].text("text"), object{"user_message_uuids": []any{l.text("uuid")}}), state("idle"))
	}
}

// interrupts a call of the tool wait when the host asks for it.
func interrupts(f *fake) {
	names := toolNames(f.begin())
	uuid := f.prompt()
	f.write(state("running"), initLine(names), callOf("slow", "tools", "wait", object{}))
	l := f.request("interrupt")
	f.write(
		success(l.text("request_id"), object{"still_queued": []any{}}),
		object{"type": "control_request", "request_id": "n", "request": object{"subtype": "mcp_message", "server_name": "tools",
			"message": object{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": object{"requestId": 7, "reason": "AbortError"}}}},
		result("", object{"subtype": "error_during_execution", "is_error": true, "result": nil, "errors": []any{"interrupted"},
			"terminal_reason": "aborted_tools", "user_message_uuids": []any{uuid}}), state("idle"))
	f.take("the end of the input", isUser)
	os.Exit(1) // after an error result
}

// lists the tools again each time that the host says that they have changed.
func lists(f *fake) {
	f.begin()
	uuid := f.prompt()
	f.write(initLine([]string{"mcp__tools__shout"}))
	l := f.must("a list change", func(l line) bool { return contains(l, "notifications/tools/list_changed") })
	f.write(success(l.text("request_id"), nil))
	f.write(object{"type": "control_request", "request_id": "list", "request": object{"subtype": "mcp_message", "server_name": "tools",
		"message": object{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}}})
	tools := linesOf(f.answer("list").at("response", "response", "mcp_response", "result", "tools"))
	var names []string
	for _, tool := range tools {
		names = append(names, tool.text("name"))
	}
	f.write(result(strings.Join(names, " "), object{"user_message_uuids": []any{uuid}}), state("idle"))
}

// options start a fake; what it complains about fails the test.
func options(t testing.TB, name string, tools ...*toolpost.Tool) *claude.Options {
	o := &claude.Options{
		CLI:    executable(t),
		Env:    []string{fakeVariable + "=" + name},
		Grace:  2 * time.Second,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Stderr: func(line string) {
			if strings.HasPrefix(line, "fake: ") {
				t.Error(line)
			}
		},
	}
	if len(tools) > 0 {
		o.Toolset = toolpost.Tools(tools)
	}
	return o
}

type text struct {
	Text string `json:"text"`
}

func shout() *toolpost.Tool {
	return toolpost.New("shout", "Say it loud.", func(_ context.Context, in text) (string, error) {
		return strings.ToUpper(in.Text), nil
	}, nil)
}

// wait is a tool that tells when it has begun, and by which cause it ended.
func wait(began func(), ended chan<- error) *toolpost.Tool {
	return toolpost.New("wait", "Wait until it is cancelled.", func(ctx context.Context, _ struct{}) (string, error) {
		began()
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return "", ctx.Err()
	}, nil)
}

// collect reads a stream to its end.
func collect(seq func(func(message.Message, error) bool)) (all []message.Message, err error) {
	for m, e := range seq {
		if e != nil {
			return all, e
		}
		all = append(all, m)
	}
	return all, nil
}

// results are the texts of the results.
func results(all []message.Message) []string {
	var texts []string
	for _, m := range all {
		if _, ok := m.(*message.Result); ok {
			var r struct{ Result string }
			_ = json.Unmarshal(m.Head().Raw, &r) // a result without text is an error
			texts = append(texts, r.Result)
		}
	}
	return texts
}

func run(t *testing.T, name, prompt string, o *claude.Options) ([]message.Message, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return collect(claude.Run(ctx, prompt, o))
}

func open(t *testing.T, o *claude.Options) *claude.Session {
	t.Helper()
	s, err := claude.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the session: %v", err)
		}
	})
	return s
}

func want(t *testing.T, all []message.Message, err error, texts ...string) {
	t.Helper()
	if got := results(all); err != nil || !slices.Equal(got, texts) {
		t.Fatalf("results %.200q and error %v, not %.200q", got, err, texts)
	}
}

func TestUnknownThingsDoNotEndARun(t *testing.T) {
	all, err := run(t, "strange", "go", options(t, "strange"))
	want(t, all, err, "fine")
	var unknown []string
	for _, m := range all {
		switch m := m.(type) {
		case *message.Unknown:
			unknown = append(unknown, m.Type+"/"+m.Subtype)
		case *message.Assistant:
			if len(m.Content) != 2 || m.Content[1].Kind() != "hologram" {
				t.Errorf("the content is %v", m.Content)
			}
		}
	}
	if !slices.Equal(unknown, []string{"brand_new/", "system/never_seen"}) {
		t.Errorf("unknown: %q", unknown)
	}
}

func TestMalformedMessage(t *testing.T) {
	_, err := run(t, "malformed", "go", options(t, "malformed"))
	var parse *message.ParseError
	if !errors.As(err, &parse) || parse.Type != "assistant" || !strings.Contains(string(parse.Line), `"message":5`) {
		t.Errorf("%v is no *message.ParseError of the line", err)
	}
	o := options(t, "malformed")
	o.SkipMalformed = true
	all, err := run(t, "malformed", "go", o)
	want(t, all, err, "after it")
}

func TestLongLines(t *testing.T) {
	all, err := run(t, "long", "go", options(t, "long"))
	if texts := results(all); err != nil || len(texts) != 1 || len(texts[0]) != 3<<20/5*5 {
		t.Fatalf("%d results, error %v", len(texts), err)
	}
}

func TestCLIThatIsKilled(t *testing.T) {
	all, err := run(t, "killed", "go", options(t, "killed"))
	if err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("error %v does not tell that the CLI was killed", err)
	}
	if n := len(all); n == 0 {
		t.Error("what it had said is lost")
	}
	s := open(t, options(t, "killed"))
	if _, err = collect(s.Turn(t.Context(), "go")); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("a turn's error is %v", err)
	}
	if _, err := s.Send(t.Context(), "more"); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("a later prompt's error is %v", err)
	}
	if err := s.Control().SetModel(t.Context(), "m"); err == nil {
		t.Error("a dead CLI takes requests")
	}
}

func TestCLIThatExits(t *testing.T) {
	_, err := run(t, "exits", "go", options(t, "exits"))
	if err == nil || !strings.Contains(err.Error(), "out of cheese") || !strings.Contains(err.Error(), "3") {
		t.Errorf("error %v does not tell the exit code and the error output", err)
	}
}

func TestCLIThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Open", "Run"} {
		o := options(t, "mute")
		o.Grace = 50 * time.Millisecond
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		var err error
		if name == "Open" {
			_, err = claude.Open(ctx, o)
		} else {
			_, err = collect(claude.Run(ctx, "go", o))
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCLIThatDoesNotEnd(t *testing.T) {
	o := options(t, "stubborn")
	o.Grace = 50 * time.Millisecond
	all, err := run(t, "stubborn", "go", o)
	want(t, all, err, "go")
}

func TestErrorBeforeInitialize(t *testing.T) {
	const text = "No conversation found with session ID: 1"
	var failure *claude.ResultError
	if _, err := run(t, "unknown id", "go", options(t, "unknown id")); !errors.As(err, &failure) || !strings.Contains(err.Error(), text) {
		t.Errorf("Run: %v", err)
	}
	if _, err := claude.Open(t.Context(), options(t, "unknown id")); !errors.As(err, &failure) || !strings.Contains(err.Error(), text) {
		t.Errorf("Open: %v", err)
	}
}

func TestBackgroundAgentCallsATool(t *testing.T) {
	all, err := run(t, "background", "go", options(t, "background", shout()))
	want(t, all, err, "launched", "all done")
	if !slices.ContainsFunc(all, func(m message.Message) bool {
		return m.Head().Type == "assistant" && strings.Contains(string(m.Head().Raw), "FROM THE SUB-AGENT")
	}) {
		t.Error("the sub-agent's call did not reach the tool")
	}
}

func TestQueuedPromptsAreAnsweredTogether(t *testing.T) {
	s := open(t, options(t, "coalesced"))
	var uuids []string
	for _, prompt := range []string{"1", "2", "3"} {
		uuid, err := s.Send(t.Context(), prompt)
		if err != nil {
			t.Fatal(err)
		}
		uuids = append(uuids, uuid)
	}
	var answered [][]string
	for m, err := range s.Messages(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if r, ok := m.(*message.Result); ok {
			answered = append(answered, r.UserMessageUUIDs)
		}
		if len(answered) == 2 {
			break
		}
	}
	if !slices.Equal(answered[0], uuids[:1]) || !slices.Equal(answered[1], uuids[1:]) {
		t.Errorf("%q are answered by %q", uuids, answered)
	}
}

// TestTurnsAtOnce has two turns at once; one result answers both.
func TestTurnsAtOnce(t *testing.T) {
	s := open(t, options(t, "coalesced"))
	if _, err := s.Send(t.Context(), "1"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Send(t.Context(), "2"); err != nil {
		t.Fatal(err)
	}
	all, err := collect(s.Turn(t.Context(), "3"))
	want(t, all, err, "one", "two and three")
}

func TestDuplicateRequestIDs(t *testing.T) {
	all, err := run(t, "duplicates", "go", options(t, "duplicates", shout()))
	want(t, all, err, "both")
}

func TestCancelledCall(t *testing.T) {
	t.Parallel()
	began, ended := make(chan struct{}), make(chan error, 1)
	s := open(t, options(t, "cancels", wait(func() { close(began) }, ended)))
	send := func(prompt string) {
		if _, err := s.Send(t.Context(), prompt); err != nil {
			t.Error(err)
		}
	}
	send("call it")
	<-began
	send("cancel it")
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the handler's context ended by %v", err)
	}
	send("end")
	for m, err := range s.Messages(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if m.Head().Type == "result" {
			break
		}
	}
}

func TestSessionsShareAServer(t *testing.T) {
	server, err := claude.NewServer(t.Context(), "shared", toolpost.Tools{shout()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, "calls")
	o.Servers = []*claude.Server{server}
	sessions := []*claude.Session{open(t, o), open(t, o)}
	var all sync.WaitGroup
	for i, s := range sessions {
		all.Go(func() {
			for n := range 5 {
				prompt := fmt.Sprintf("prompt %d of session %d", n, i)
				got, err := collect(s.Turn(t.Context(), prompt))
				if err != nil || !slices.Equal(results(got), []string{strings.ToUpper(prompt)}) {
					t.Errorf("%s: %q, %v", prompt, results(got), err)
				}
			}
		})
	}
	all.Wait()
}

func TestInterruptedCall(t *testing.T) {
	for _, how := range []string{"Interrupt", "context"} {
		began, ended := make(chan struct{}), make(chan error, 1)
		s := open(t, options(t, "interrupts", wait(func() { close(began) }, ended)))
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("enough")
		go func() {
			<-began
			if how == "context" {
				cancel(stop)
			} else if _, err := s.Interrupt(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		_, err := collect(s.Turn(ctx, "go"))
		var failure *claude.ResultError
		told := errors.As(err, &failure) && failure.TerminalReason == "aborted_tools"
		if how == "context" && !errors.Is(err, stop) || how == "Interrupt" && !told {
			t.Errorf("%s: %v", how, err)
		}
		<-ended
		cancel(nil)
	}
}

// TestCancelledRun interrupts, and waits until the CLI is gone.
func TestCancelledRun(t *testing.T) {
	began, ended := make(chan struct{}), make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	o := options(t, "interrupts", wait(func() { close(began) }, ended))
	go func() { <-began; cancel() }()
	if _, err := collect(claude.Run(ctx, "go", o)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	<-ended
}

func TestLeftLoopEndsTheCLI(t *testing.T) {
	before := children(t)
	for m, err := range claude.Run(t.Context(), "go", options(t, "echo")) {
		if err != nil || m == nil {
			t.Fatal(m, err)
		}
		break
	}
	if after := children(t); after > before {
		t.Errorf("%d processes are left", after-before)
	}
}

func TestToolsThatChange(t *testing.T) {
	var mu sync.Mutex
	tools := toolpost.Tools{shout()}
	server, err := claude.NewServer(t.Context(), "tools", toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(tools), nil
	}), nil)
	if err != nil {
		t.Fatal(err)
	}
	o := options(t, "lists")
	o.Servers = []*claude.Server{server}
	s := open(t, o)
	changed := false
	var all []message.Message
	for m, err := range s.Turn(t.Context(), "go") {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
		if !changed {
			changed = true
			mu.Lock()
			tools = append(tools, shout().Rename("whisper"))
			mu.Unlock()
			if err := server.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	want(t, all, nil, "shout whisper")
}
