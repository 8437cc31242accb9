package claude_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// The test binary is the fake CLI, too: this variable names what it plays.
const fakeVariable = "TOOLPOST_FAKE_CLI"

func TestMain(m *testing.M) {
	name, ok := os.LookupEnv(fakeVariable)
	switch {
	case !ok:
		os.Setenv("GORACE", "atexit_sleep_ms=0") // else every fake with -race takes a second to end
		os.Exit(m.Run())
	case slices.Equal(os.Args[1:], []string{"--version"}):
		fmt.Println("2.1.329 (Claude Code)")
		os.Exit(0)
	}
	f := newFake()
	if play := fakes[name]; play != nil {
		play(f)
		f.end()
	}
	f.replay(name)
}

// executable is the path of the fake CLI.
func executable(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A fake plays the CLI's side of the protocol.
type fake struct {
	lines <-chan line
	queue []line // read and not taken yet
	ended bool   // the input
	out   *bufio.Writer
	late  time.Duration // how long it waits for a line
}

type object = map[string]any

// A line is one that the host wrote.
type line object

func (l line) at(path ...string) any { return at(object(l), path...) }

func (l line) text(path ...string) string {
	s, _ := l.at(path...).(string)
	return s
}

// at follows members of objects.
func at(v any, path ...string) any {
	for _, name := range path {
		o, _ := v.(object)
		v = o[name]
	}
	return v
}

func newFake() *fake {
	lines := make(chan line)
	go func() {
		defer close(lines)
		r := bufio.NewReader(os.Stdin)
		for {
			text, err := r.ReadBytes('\n')
			if len(text) > 0 {
				var l line
				if json.Unmarshal(text, &l) != nil {
					complain("the host wrote a line that is not a JSON object: %.200s", text)
				}
				lines <- l
			}
			if err != nil {
				return
			}
		}
	}()
	return &fake{lines: lines, out: bufio.NewWriterSize(os.Stdout, 1<<16), late: 20 * time.Second}
}

// complain ends the fake with what is wrong with the host; the test that
// started it fails with that.
func complain(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "fake: "+format+"\n", args...)
	os.Exit(97)
}

// write writes a value as a line, or a string as it is.
func (f *fake) write(values ...any) {
	for _, v := range values {
		text, ok := v.(string)
		if !ok {
			text = encode(v)
		}
		f.out.WriteString(text)
		f.out.WriteByte('\n')
	}
	f.out.Flush()
}

func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // a literal of a test
	}
	return string(data)
}

// take returns the first line that matches, nil if the input ends before.
func (f *fake) take(what string, match func(line) bool) line {
	timer := time.NewTimer(f.late)
	defer timer.Stop()
	for {
		for i, l := range f.queue {
			if match(l) {
				f.queue = slices.Delete(f.queue, i, i+1)
				return l
			}
		}
		if f.ended {
			return nil
		}
		select {
		case l, ok := <-f.lines:
			if ok {
				f.queue = append(f.queue, l)
			}
			f.ended = !ok
		case <-timer.C:
			complain("wait for %s: not within %v; there are %.2000s", what, f.late, encode(f.queue))
		}
	}
}

// must is take for a line without which the CLI cannot go on.
func (f *fake) must(what string, match func(line) bool) line {
	l := f.take(what, match)
	if l == nil {
		complain("the input ended before %s; there are %.2000s", what, encode(f.queue))
	}
	return l
}

// request takes a control request of the host.
func (f *fake) request(subtype string) line {
	return f.must("the request "+subtype, isRequest(subtype))
}

func isRequest(subtype string) func(line) bool {
	return func(l line) bool {
		return l.text("type") == "control_request" && l.text("request", "subtype") == subtype
	}
}

// prompt takes a prompt and returns its UUID.
func (f *fake) prompt() (uuid string) {
	return f.must("a prompt", isUser).text("uuid")
}

func isUser(l line) bool { return l.text("type") == "user" }

// answer takes the host's answer to a request.
func (f *fake) answer(id string) line {
	return f.must("the answer to "+id, isAnswer(id))
}

func isAnswer(id string) func(line) bool {
	return func(l line) bool {
		return l.text("type") == "control_response" && l.text("response", "request_id") == id
	}
}

func success(id string, body any) object {
	return object{"type": "control_response", "response": object{"subtype": "success", "request_id": id, "response": body}}
}

// initialize answers the first request and returns it.
func (f *fake) initialize() line {
	l := f.request("initialize")
	f.write(success(l.text("request_id"), object{"commands": []any{}, "agents": []any{}, "models": []any{}, "pid": os.Getpid()}))
	return l
}

// tools are the names that the CLI gives to the tools of the manifests.
func toolNames(initialize line) []string {
	names := []string{}
	manifests, _ := initialize.at("request", "sdkMcpServerManifests").(object)
	for _, server := range slices.Sorted(maps.Keys(manifests)) {
		list, _ := at(manifests[server], "toolsListResult", "tools").([]any)
		for _, tool := range list {
			names = append(names, fmt.Sprintf("mcp__%s__%v", server, at(tool, "name")))
		}
	}
	return names
}

const session = "5e551011-0000-4000-8000-000000000000"

func system(subtype string, more object) object {
	m := object{"type": "system", "subtype": subtype, "session_id": session, "uuid": "00000000-0000-4000-8000-000000000001"}
	maps.Copy(m, more)
	return m
}

func initLine(tools []string) object {
	if tools == nil {
		tools = []string{}
	}
	return system("init", object{
		"cwd": "/project", "tools": tools, "mcp_servers": []any{}, "model": "fake", "permissionMode": "default",
		"slash_commands": []any{}, "apiKeySource": "none", "claude_code_version": "2.1.329", "output_style": "default",
		"agents": []any{}, "skills": []any{}, "plugins": []any{},
	})
}

func state(s string) object { return system("session_state_changed", object{"state": s}) }

func assistant(text string) object {
	return object{
		"type": "assistant", "session_id": session, "uuid": "00000000-0000-4000-8000-000000000002", "parent_tool_use_id": nil,
		"message": object{
			"id": "msg_1", "type": "message", "role": "assistant", "model": "fake", "stop_reason": nil, "stop_sequence": nil,
			"content": []any{object{"type": "text", "text": text}}, "usage": object{"input_tokens": 1, "output_tokens": 1},
		},
	}
}

// result is a success with text; more changes members.
func result(text string, more object) object {
	m := object{
		"type": "result", "subtype": "success", "session_id": session, "uuid": "00000000-0000-4000-8000-000000000003",
		"is_error": false, "result": text, "duration_ms": 1, "duration_api_ms": 1, "num_turns": 1, "total_cost_usd": 0.001,
		"stop_reason": "end_turn", "terminal_reason": "completed", "permission_denials": []any{},
		"usage": object{"input_tokens": 1, "output_tokens": 1}, "modelUsage": object{},
	}
	maps.Copy(m, more)
	return m
}

// call asks the host to call a tool, and returns the result.
func (f *fake) call(id, server, tool string, arguments object) line {
	f.write(callOf(id, server, tool, arguments))
	return f.answer(id)
}

func callOf(id, server, tool string, arguments object) object {
	return object{"type": "control_request", "request_id": id, "request": object{
		"subtype": "mcp_message", "server_name": server, "message": object{
			"jsonrpc": "2.0", "id": 7, "method": "tools/call",
			"params": object{"name": tool, "arguments": arguments, "_meta": object{"claudecode/toolUseId": "toolu_" + id}},
		},
	}}
}

// end waits for the end of the input and exits.
func (f *fake) end() {
	if l := f.take("the end of the input", func(line) bool { return false }); l == nil {
		os.Exit(0)
	}
}

// contains says whether a text is in a line, as it is encoded.
func contains(l line, text string) bool { return strings.Contains(encode(l), text) }
