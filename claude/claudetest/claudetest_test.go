package claudetest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/claudetest"
	"github.com/toolpost/toolpost/claude/internal/stdio"
	"github.com/toolpost/toolpost/claude/message"
)

// TestMain makes the test binary a CLI, too.
func TestMain(m *testing.M) {
	if os.Getenv("CLAUDETEST_CLI") == "" {
		os.Exit(m.Run())
	}
	in := bufio.NewScanner(os.Stdin)
	in.Scan()
	fmt.Println(`{"type":"control_response","response":{"subtype":"success","request_id":"toolpost_1","response":{"account":{"email":"me@example.org"},"models":[]}}}`)
	in.Scan()
	var prompt struct{ UUID string }
	if err := json.Unmarshal(in.Bytes(), &prompt); err != nil {
		os.Exit(97)
	}
	dir, _ := os.Getwd()
	fmt.Printf(`{"type":"system","subtype":"init","tools":[],"cwd":%q,"claude_code_version":"2.1.329"}`+"\n", dir)
	fmt.Printf(`{"type":"result","subtype":"success","is_error":false,"result":"the key is sk-ant-1234567890","api_token":"hush-hush","user_message_uuids":[%q]}`+"\n", prompt.UUID)
	for in.Scan() {
	}
	os.Exit(0)
}

// spy is a test that notes its errors.
type spy struct {
	testing.TB
	errors []string
}

func (s *spy) Error(args ...any) { s.errors = append(s.errors, fmt.Sprint(args...)) }

func TestRecord(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "run.jsonl")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := func(t testing.TB, o *claude.Options, prompt string) (*claude.Response, error) {
		return claude.Collect(claude.Run(t.Context(), prompt, o))
	}
	t.Run("record", func(t *testing.T) {
		o := &claude.Options{CLI: exe, Dir: dir, Env: []string{"CLAUDETEST_CLI=1"}, SystemPrompt: "a secret prompt", Start: claudetest.Record(t, file)}
		if r, err := run(t, o, "go"); err != nil || r.Result != "the key is sk-ant-1234567890" {
			t.Fatalf("%+v, %v", r, err)
		}
	})
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"sk-ant-1", "hush", "me@example.org", "a secret prompt", dir} {
		if strings.Contains(string(data), secret) {
			t.Errorf("the recording has %q:\n%s", secret, data)
		}
	}
	s := &spy{TB: t}
	o := &claude.Options{Start: claudetest.Replay(s, os.DirFS(dir), "run.jsonl")}
	for range 2 {
		if r, err := run(t, o, "go"); err != nil || r.Result != "the key is [secret]" || len(s.errors) > 0 {
			t.Errorf("%+v, %v, %q", r, err, s.errors)
		}
	}
	if _, err := run(t, o, "stop"); err == nil || len(s.errors) != 1 || !strings.Contains(s.errors[0], "stop") {
		t.Errorf("another prompt: %v, %q", err, s.errors)
	}
}

// TestRecordings replays all, with the messages as they are recorded.
func TestRecordings(t *testing.T) {
	files, err := fs.Glob(claudetest.Recordings, "recordings/*.jsonl")
	if err != nil || len(files) != 7 {
		t.Fatalf("%q, %v", files, err)
	}
	fails := map[string]string{"overloaded": "529", "unauthorized": "401", "turns": "error_max_turns"}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".jsonl")
		t.Run(name, func(t *testing.T) {
			o := &claude.Options{Start: claudetest.Replay(t, claudetest.Recordings, file)}
			if name == "tool" || name == "turns" {
				o.Servers = []*claude.Server{calculator(t)}
			}
			var got []string
			for m, err := range claude.Run(t.Context(), "anything", o) {
				if err == nil {
					got = append(got, m.Head().Type)
				} else if failure := fails[name]; failure == "" || !strings.Contains(err.Error(), failure) {
					t.Error(err)
				}
			}
			if want := recorded(t, file); !slices.Equal(got, want) {
				t.Errorf("the messages are %q, not %q", got, want)
			}
		})
	}
}

func recorded(t *testing.T, file string) (types []string) {
	t.Helper()
	entries, err := stdio.Read(claudetest.Recordings, file)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		var l struct{ Type string }
		if e.Dir == "stdout" && json.Unmarshal(e.Line, &l) == nil && !strings.HasPrefix(l.Type, "control_") {
			types = append(types, l.Type)
		}
	}
	return types
}

func calculator(t *testing.T) *claude.Server {
	t.Helper()
	add := toolpost.New("add", "Adds two numbers.", func(context.Context, terms) (int, error) { return 5, nil }, nil)
	server, err := claude.NewServer(t.Context(), "calc", toolpost.Tools{add}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return server
}

const begun = `{"dir":"stdin","line":{"type":"control_request","request_id":"a","request":{"subtype":"initialize"}}}
{"dir":"stdout","line":{"type":"control_response","response":{"subtype":"success","request_id":"a","response":{}}}}
`

func replay(s *spy, text string) *claude.Options {
	files := fstest.MapFS{"x.jsonl": {Data: []byte(text)}}
	return &claude.Options{Start: claudetest.Replay(s, files, "x.jsonl")}
}

// TestDeviations: a program that does something else than recorded fails its test,
// and does not hang.
func TestDeviations(t *testing.T) {
	const switched = begun + `{"dir":"stdin","line":{"type":"control_request","request_id":"b","request":{"subtype":"set_model","model":"opus"}}}
{"dir":"stdout","line":{"type":"control_response","response":{"subtype":"success","request_id":"b","response":{}}}}
`
	for name, test := range map[string]struct {
		recording, want string
		act             func(ctx context.Context, s *claude.Session) error
	}{
		"as recorded": {switched, "", func(ctx context.Context, s *claude.Session) error { return s.Control().SetModel(ctx, "opus") }},
		"another request": {switched, "set_permission_mode", func(ctx context.Context, s *claude.Session) error {
			_, err := s.Control().SetPermissionMode(ctx, claude.ModePlan)
			return err
		}},
		"other members": {switched, "haiku", func(ctx context.Context, s *claude.Session) error { return s.Control().SetModel(ctx, "haiku") }},
		"a prompt": {begun, "hello", func(ctx context.Context, s *claude.Session) error {
			_, err := claude.Collect(s.Turn(ctx, "hello"))
			return err
		}},
		"nothing": {switched, "within 30s", func(ctx context.Context, s *claude.Session) error {
			_, err := claude.Collect(s.Messages(ctx))
			if errors.Is(err, claude.ErrNoMessages) {
				err = nil
			}
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				spy := &spy{TB: t}
				s, err := claude.Open(t.Context(), replay(spy, test.recording))
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				err = test.act(t.Context(), s)
				if said := strings.Join(spy.errors, "\n"); (err != nil) != (test.want != "") || (said != "") != (test.want != "") || !strings.Contains(said, test.want) {
					t.Errorf("the error is %v, and the test failed with %q", err, said)
				}
			})
		})
	}
}

// TestLeaving: an interrupt that is not recorded is answered, and an end with an
// exit code is one again.
func TestLeaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &spy{TB: t}
		const prompted = begun + `{"dir":"stdin","line":{"type":"user","uuid":"u"}}
{"dir":"stdout","line":{"type":"system","subtype":"init","tools":[],"claude_code_version":"2.1.329"}}
`
		for m, err := range claude.Run(t.Context(), "go", replay(s, prompted)) {
			if _, ok := m.(*message.Init); !ok || err != nil {
				t.Errorf("%v, %v", m, err)
			}
			break
		}
		_, err := claude.Collect(claude.Run(t.Context(), "go", replay(s, prompted+`{"dir":"exit","line":143}`)))
		if exit := (*claude.ExitError)(nil); !errors.As(err, &exit) || exit.Code != 143 || len(s.errors) > 0 {
			t.Errorf("the run ends with %v, and the test with %q", err, s.errors)
		}
		for what, text := range map[string]string{"a line": "{", "a file": ""} {
			o := replay(s, text)
			if text == "" {
				o.Start = claudetest.Replay(s, fstest.MapFS{}, "x.jsonl")
			}
			if _, err := claude.Open(t.Context(), o); err == nil {
				t.Errorf("%s that is not there is replayed", what)
			}
		}
	})
}
