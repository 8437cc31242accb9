package claude_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/internal/cli"
)

// TestOpenWhileListing ends a start that waits for a toolset.
func TestOpenWhileListing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := options(t, "echo")
	o.Toolset = toolpost.ToolsetFunc(func(ctx context.Context) ([]*toolpost.Tool, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	})
	if _, err := claude.Open(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("Open ends with %v, want %v", err, context.Canceled)
	}
}

// A tapped transport notes what is sent.
type tapped struct {
	claude.Transport
	sent []string
}

func (t *tapped) WriteLine(line []byte) error {
	t.sent = append(t.sent, string(line))
	return t.Transport.WriteLine(line)
}

// TestTransport runs over a transport of the caller, which gets the command line.
func TestTransport(t *testing.T) {
	var tap *tapped
	o := options(t, "echo")
	o.Start = func(ctx context.Context, how *claude.Command) (claude.Transport, error) {
		if how.Path != o.CLI || !slices.Contains(how.Args, "--output-format=stream-json") {
			t.Errorf("the CLI is started as %s %q", how.Path, how.Args)
		}
		p, err := how.Start(ctx)
		tap = &tapped{Transport: p}
		return tap, err
	}
	if _, err := run(t, "echo", "go", o); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(tap.sent, func(line string) bool { return strings.Contains(line, `"go"`) }) {
		t.Errorf("sent %q", tap.sent)
	}
	refused := errors.New("no container")
	o.Start = func(context.Context, *claude.Command) (claude.Transport, error) { return nil, refused }
	if _, err := claude.Open(t.Context(), o); !errors.Is(err, refused) {
		t.Errorf("Open ends with %v, want %v", err, refused)
	}
}

// obedient plays a CLI that carries out control requests; each must have the body
// of the protocol.
func obedient(f *fake) {
	f.begin()
	for _, want := range []string{
		`{"max_thinking_tokens":2000,"subtype":"set_max_thinking_tokens"}`,
		`{"max_thinking_tokens":null,"subtype":"set_max_thinking_tokens"}`,
		`{"serverName":"files","subtype":"mcp_reconnect"}`,
		`{"enabled":false,"serverName":"files","subtype":"mcp_toggle"}`,
	} {
		l := f.must("a control request", func(l line) bool { return l.text("type") == "control_request" })
		if got := encode(l.at("request")); got != want {
			complain("the request is %s, want %s", got, want)
		}
		f.write(success(l.text("request_id"), nil))
	}
}

// TestControlRequests sends those that the recordings do not have.
func TestControlRequests(t *testing.T) {
	s := open(t, options(t, "obedient"))
	ctx, c := t.Context(), s.Control()
	for name, err := range map[string]error{
		"thinking": errors.Join(c.SetMaxThinkingTokens(ctx, 2000), c.SetMaxThinkingTokens(ctx, -1)),
		"servers":  errors.Join(c.ReconnectServer(ctx, "files"), c.EnableServer(ctx, "files", false)),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	info, err := s.Info(ctx)
	if err != nil || len(info.Raw) == 0 {
		t.Errorf("the CLI describes itself as %+v (%v)", info, err)
	}
}

func TestOldCLI(t *testing.T) {
	_, err := run(t, "old", "go", options(t, "old"))
	if old := (*claude.VersionError)(nil); !errors.As(err, &old) {
		t.Errorf("a run of an old CLI ends with %v, want a *claude.VersionError", err)
	}
}

// old plays a CLI that lacks what is needed.
func old(f *fake) {
	f.begin()
	f.prompt()
	init := initLine(nil)
	init["claude_code_version"] = "1.0.128"
	f.write(init, assistant("done"), result("done", nil), state("idle"))
}

func TestMaxLine(t *testing.T) {
	t.Parallel()
	o := options(t, "long")
	o.MaxLine = 1 << 20
	_, err := run(t, "long", "go", o)
	if long := (*cli.LineTooLongError)(nil); !errors.As(err, &long) {
		t.Errorf("a run with longer lines ends with %v, want a *cli.LineTooLongError", err)
	}
}
