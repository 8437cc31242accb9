package claude_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/message"
)

// userLines answers every prompt with the line that it came in.
func userLines(f *fake) {
	l := f.request("initialize")
	f.write(success(l.text("request_id"), object{"claude_code_version": os.Getenv("FAKE_VERSION")}))
	for {
		l := f.take("a prompt", isUser)
		if l == nil {
			return
		}
		if l["shouldQuery"] == false {
			continue
		}
		f.write(state("running"), initLine(nil), result(encode(l), object{"user_message_uuids": []any{l.text("uuid")}}), state("idle"))
	}
}

// TestPromptsAreVerbatim: no file that a prompt mentions is read, and no command
// in it is run, unless that is asked for.
func TestPromptsAreVerbatim(t *testing.T) {
	for _, test := range []struct {
		prompt, version string
		expand          bool
		marked, refused bool
	}{
		{"look at @/etc/passwd", "2.1.329", false, true, false},
		{"/cost", "2.1.248", false, true, false},
		{"no mention", "", false, true, false},
		{"look at @/etc/passwd", "2.1.329", true, false, false},
		{"look at @/etc/passwd", "2.0.0", true, false, false},
		{"look at @/etc/passwd", "2.1.247", false, false, true},
		{"/cost", "", false, false, true},
		{"\n /cost", "", false, false, true},
		{"what is http://example.com/ ?", "", false, true, false},
	} {
		o := options(t, "user lines")
		o.ExpandPrompts = test.expand
		o.Env = append(o.Env, "FAKE_VERSION="+test.version)
		all, err := run(t, "user lines", test.prompt, o)
		if test.refused {
			if err == nil || !strings.Contains(err.Error(), "set ExpandPrompts") {
				t.Errorf("%+v: the error is %v", test, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%+v: %v", test, err)
		}
		var sent struct {
			Composed bool `json:"client_composed"`
			Message  struct{ Content []claude.Block }
		}
		if err := json.Unmarshal([]byte(results(all)[0]), &sent); err != nil {
			t.Fatal(err)
		}
		if sent.Composed != test.marked || len(sent.Message.Content) != 1 || sent.Message.Content[0].Text != test.prompt {
			t.Errorf("%+v: sent %s", test, results(all)[0])
		}
	}
	o := options(t, "user lines")
	o.Env = append(o.Env, "FAKE_VERSION=2.1.200")
	if _, err := open(t, o).Send(t.Context(), "", claude.Block{Raw: []byte(`{"type":"text","text":"look at \u0040/etc/passwd"}`)}); err == nil {
		t.Error("a mention that is written as an escape is sent")
	}
}

func TestBlocks(t *testing.T) {
	blocks := []claude.Block{
		claude.Media("image/png", []byte("png")), claude.Media("application/pdf", []byte("pdf")),
		{Raw: []byte(`{"cache_control":{"type":"ephemeral"},"text":"more","type":"text"}`)},
	}
	const want = `"content":[{"text":"What is this?","type":"text"},{"source":{"data":"cG5n","media_type":"image/png","type":"base64"},"type":"image"},` +
		`{"source":{"data":"cGRm","media_type":"application/pdf","type":"base64"},"type":"document"},` +
		`{"cache_control":{"type":"ephemeral"},"text":"more","type":"text"}]`
	o := options(t, "user lines")
	o.Env = append(o.Env, "FAKE_VERSION=2.1.329")
	s := open(t, o)
	const prompt = "What is this?"
	for name, run := range map[string]func(prompt string, blocks ...claude.Block) iter.Seq2[message.Message, error]{
		"Run": func(prompt string, blocks ...claude.Block) iter.Seq2[message.Message, error] {
			return claude.Run(t.Context(), prompt, o, blocks...)
		},
		"Turn": func(prompt string, blocks ...claude.Block) iter.Seq2[message.Message, error] {
			return s.Turn(t.Context(), prompt, blocks...)
		},
	} {
		all, err := collect(run(prompt, blocks...))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !strings.Contains(results(all)[0], want) {
			t.Errorf("%s sent %s", name, results(all)[0])
		}
		if all, err := collect(run(" ", claude.Text("only a block"))); err != nil || !strings.Contains(results(all)[0], `"content":[{"text":"only a block","type":"text"}]`) {
			t.Errorf("%s of blocks alone sent %q, %v", name, results(all), err)
		}
		for what, empty := range map[string][]claude.Block{"no block": nil, "a block that is not JSON": {{Raw: []byte("{")}}} {
			if _, err := collect(run(" ", empty...)); err == nil {
				t.Errorf("%s sent %s", name, what)
			}
		}
	}
}

// TestRunPrompts sends each prompt when the one before is answered, and one with
// all that a prompt can have.
func TestRunPrompts(t *testing.T) {
	const uuid = "11111111-2222-4333-8444-555555555555"
	o := options(t, "user lines")
	o.Env = append(o.Env, "FAKE_VERSION=2.1.329")
	answered := make(chan bool)
	prompts := func(yield func(claude.Prompt) bool) {
		for _, p := range []claude.Prompt{{Text: "first"}, {Text: "second"}, {Text: "read this first", NoTurn: true}, {Text: "third", UUID: uuid, Priority: "later"}} {
			if !yield(p) {
				t.Error("yield returned false during the run")
			}
			if !p.NoTurn {
				<-answered
			}
		}
	}
	var all []message.Message
	for m, err := range claude.RunPrompts(t.Context(), prompts, o) {
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, m); m.Head().Type == "result" {
			answered <- true
		}
	}
	said := results(all)
	if len(said) != 3 || !strings.Contains(said[0], "first") || !strings.Contains(said[1], "second") || !strings.Contains(said[2], "third") {
		t.Fatalf("the answers are %q", said)
	}
	for _, want := range []string{`"uuid":"` + uuid + `"`, `"priority":"later"`} {
		if !strings.Contains(said[2], want) {
			t.Errorf("the third prompt is %s, without %s", said[2], want)
		}
	}
	for _, bad := range []claude.Prompt{{Text: "x", UUID: "1"}, {Text: "x", Priority: "soon"}, {}} {
		if _, err := collect(claude.RunPrompts(t.Context(), slices.Values([]claude.Prompt{bad}), o)); err == nil {
			t.Errorf("%+v is sent", bad)
		}
	}
}

// TestRunPromptsEnds: the end of the run ends the sequence, and the run ends after
// the end of the sequence.
func TestRunPromptsEnds(t *testing.T) {
	o := options(t, "user lines")
	left, told := make(chan bool), make(chan bool)
	for m, err := range claude.RunPrompts(t.Context(), func(yield func(claude.Prompt) bool) {
		yield(claude.Prompt{Text: "go"})
		<-left
		told <- yield(claude.Prompt{Text: "too late"})
	}, o) {
		if err != nil {
			t.Fatal(err)
		}
		if m.Head().Type == "result" {
			break
		}
	}
	close(left)
	if <-told {
		t.Error("yield returned true after the run")
	}
	for name, sequence := range map[string]iter.Seq[claude.Prompt]{
		"no prompts": func(func(claude.Prompt) bool) {},
		"no turn":    slices.Values([]claude.Prompt{{Text: "only read this", NoTurn: true}}),
	} {
		if all, err := collect(claude.RunPrompts(t.Context(), sequence, o)); err != nil || len(all) > 0 {
			t.Errorf("%s: %v, %v", name, all, err)
		}
	}
	_, err := collect(claude.RunPrompts(t.Context(), func(func(claude.Prompt) bool) { panic("oops") }, o))
	if err == nil || !strings.Contains(err.Error(), "oops") {
		t.Errorf("a sequence that panics ends the run with %v", err)
	}
}

// TestTurnEndsWithTheCause: the error of a turn is why this process ended it,
// not what the CLI makes of that.
func TestTurnEndsWithTheCause(t *testing.T) {
	for name, end := range map[string]struct {
		end  func(cancel context.CancelFunc, s *claude.Session)
		want error
	}{
		"the context of Open": {func(cancel context.CancelFunc, _ *claude.Session) { cancel() }, context.Canceled},
		"Close":               {func(_ context.CancelFunc, s *claude.Session) { go s.Close() }, claude.ErrClosed},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s, err := claude.Open(ctx, options(t, "interrupted"))
			if err != nil {
				t.Fatal(err)
			}
			var last error
			for m, err := range s.Turn(t.Context(), "go") {
				last = err
				if err == nil && m.Head().Type == "assistant" {
					end.end(cancel, s)
				}
			}
			if !errors.Is(last, end.want) {
				t.Errorf("the turn ends with %v, want %v", last, end.want)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// interrupted works until it is interrupted.
func interrupted(f *fake) {
	f.begin()
	uuid := f.prompt()
	f.write(state("running"), initLine(nil), assistant("on and on"))
	l := f.request("interrupt")
	f.write(result("", object{"subtype": "error_during_execution", "is_error": true, "terminal_reason": "aborted_streaming", "user_message_uuids": []any{uuid}}),
		state("idle"), success(l.text("request_id"), object{"still_queued": []any{}}))
}

func TestWarnings(t *testing.T) {
	ask := func(context.Context, *claude.PermissionRequest) (*claude.Decision, error) { return nil, nil }
	for _, test := range []struct {
		name    string
		options claude.Options
		want    string
	}{
		{"a tool that is allowed", claude.Options{Permission: ask, AllowedTools: []string{"Read", "Bash(git log:*)"}}, "tools=[Read]"},
		{"some calls that are allowed", claude.Options{Permission: ask, AllowedTools: []string{"Bash(git log:*)"}}, ""},
		{"nobody to ask", claude.Options{AllowedTools: []string{"Read"}}, ""},
		{"everything is allowed", claude.Options{Permission: ask, PermissionMode: claude.ModeBypass}, "mode=bypassPermissions"},
		{"a server that does not start", claude.Options{Args: []string{"--failing"}}, "server=files status=failed"},
	} {
		var log bytes.Buffer
		o := options(t, "warnings")
		test.options.CLI, test.options.Env, test.options.Stderr = o.CLI, o.Env, o.Stderr
		test.options.Logger = slog.New(slog.NewTextHandler(&log, nil))
		if _, err := run(t, "warnings", "go", &test.options); err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if want := min(len(test.want), 1); strings.Count(log.String(), "level=WARN") != want || !strings.Contains(log.String(), test.want) {
			t.Errorf("%s: %q is not the only warning:\n%s", test.name, test.want, &log)
		}
	}
}

// warnings names a server that failed, twice.
func warnings(f *fake) {
	f.begin()
	f.prompt()
	init := initLine(nil)
	if slices.Contains(os.Args, "--failing") {
		init["mcp_servers"] = []any{object{"name": "files", "status": "failed"}, object{"name": "other", "status": "connected"}}
	}
	f.write(state("running"), init, init, result("done", nil), state("idle"))
}

func TestInitializeFields(t *testing.T) {
	o := options(t, "initialize")
	o.Initialize = map[string]any{"promptSuggestions": true, "toolAliases": map[string]string{"a": "b"}}
	all, err := run(t, "initialize", "go", o)
	if err != nil || !strings.Contains(results(all)[0], `"promptSuggestions":true`) || !strings.Contains(results(all)[0], `"toolAliases":{"a":"b"}`) {
		t.Errorf("the first request is %q, %v", results(all), err)
	}
	for _, name := range []string{"systemPrompt", "hooks", "jsonSchema", "subtype"} {
		o.Initialize = map[string]any{name: "x"}
		if _, err := run(t, "initialize", "go", o); err == nil || !strings.Contains(err.Error(), `"`+name+`"`) {
			t.Errorf("the field %s: %v", name, err)
		}
	}
}

// requirement 1, FR-012: what is wrong with a tool is a structured error, also of
// a server.
func TestServerRefusesUnsoundTools(t *testing.T) {
	tool := func(change func(*toolpost.Tool)) *toolpost.Tool {
		t := *shout()
		change(&t)
		return &t
	}
	for field, bad := range map[string]*toolpost.Tool{
		"value":    nil,
		"function": tool(func(t *toolpost.Tool) { t.Handler = nil }),
	} {
		_, err := claude.NewServer(t.Context(), "s", toolpost.Tools{bad}, nil)
		var invalid *toolpost.ToolValidationError
		if !errors.As(err, &invalid) || invalid.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// echoInitialize answers with the first request.
func echoInitialize(f *fake) {
	first := f.begin()
	f.prompt()
	f.write(state("running"), result(encode(first), nil), state("idle"))
}
