package claude_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude"
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
	if _, err := open(t, o).SendContent(t.Context(), json.RawMessage(`[{"type":"text","text":"look at \u0040/etc/passwd"}]`)); err == nil {
		t.Error("a mention that is written as an escape is sent")
	}
}

func TestContent(t *testing.T) {
	content := []claude.Block{claude.Text("What is this?"), claude.Media("image/png", []byte("png")), claude.Media("application/pdf", []byte("pdf"))}
	check := func(name, sent string) {
		t.Helper()
		const want = `[{"text":"What is this?","type":"text"},{"source":{"data":"cG5n","media_type":"image/png","type":"base64"},"type":"image"},` +
			`{"source":{"data":"cGRm","media_type":"application/pdf","type":"base64"},"type":"document"}]`
		if !strings.Contains(sent, want) {
			t.Errorf("%s sent %s", name, sent)
		}
	}
	o := options(t, "user lines")
	o.Env = append(o.Env, "FAKE_VERSION=2.1.329")
	all, err := collect(claude.RunContent(t.Context(), content, o))
	if err != nil {
		t.Fatal(err)
	}
	check("RunContent", results(all)[0])
	s := open(t, o)
	for range 2 {
		if all, err = collect(s.TurnContent(t.Context(), content)); err != nil {
			t.Fatal(err)
		}
		check("TurnContent", results(all)[0])
	}
	for _, empty := range []any{nil, []claude.Block{}, "", []claude.Block(nil), func() {}} {
		if _, err := collect(s.TurnContent(t.Context(), empty)); err == nil {
			t.Errorf("the content %T is sent", empty)
		}
		if _, err := collect(claude.RunContent(t.Context(), empty, o)); err == nil {
			t.Errorf("the content %T is run", empty)
		}
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
