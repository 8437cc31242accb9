//go:build unix

package live

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	runner "github.com/toolpost/toolpost/agent"
	agents "github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/claudecli"
	"github.com/toolpost/toolpost/schema"
)

// A loop is a conversation of the agent loop with the model that is the real
// CLI.
type loop struct {
	*stage
	model   *claudecli.Model
	request *agents.Request
}

// cliLoops are the conversations.
var cliLoops = []struct {
	name string
	run  func(l *loop)
}{
	{"text, and a follow-up", loopText},
	{"a tool", loopTool},
	{"tools at once", loopParallel},
	{"an image and a document in a result", loopMedia},
	{"media in the prompt", loopPromptMedia},
	{"a text beside results", loopSteering},
	{"invalid and unknown calls", loopInvalid},
	{"a restart with history", loopRestart},
	{"structured output", loopOutput},
	{"no calls", loopNoCalls},
	{"a broken stream", loopBroken},
	{"length", loopLength},
	{"refusal", loopRefusal},
	{"failures", loopFailures},
	{"no server", loopNoServer},
	{"an agent", loopAgent},
	{"cancelled while the model writes", loopCancelWriting},
	{"cancelled while calls wait", loopCancelWaiting},
}

func TestClaudeModel(t *testing.T) {
	bin := claudeCLI(t)
	for _, c := range cliLoops {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, bin)
			s.opts.Env = append(s.opts.Env, "TOOLPOST_LOOP="+s.opts.Dir) // by which processes are found
			s.opts.MaxRetries = 2
			l := &loop{stage: s, model: claudecli.New("claude-sonnet-4-5", &claudecli.Options{CLI: s.opts})}
			set, err := toolpost.NewSet(t.Context(), toolpost.Tools{add()})
			if err != nil {
				t.Fatal(err)
			}
			l.request = &agents.Request{System: "You are a loop.", Tools: set, Messages: []*agents.Message{agents.UserText("go")}}
			c.run(l)
			if err := l.model.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
			l.gone()
		})
	}
}

// processes returns those of the CLI that run, if the system has /proc.
func (l *loop) processes() (files []string) {
	l.Helper()
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		l.Fatal(err)
	}
	for _, file := range environments {
		variables, err := os.ReadFile(file)
		if err == nil && slices.Contains(strings.Split(string(variables), "\x00"), "TOOLPOST_LOOP="+l.opts.Dir) {
			files = append(files, file)
		}
	}
	return files
}

// gone fails the test if a process of the CLI is left.
func (l *loop) gone() {
	l.Helper()
	if left := l.processes(); len(left) > 0 {
		l.Errorf("processes are left: %q", left)
	}
}

// ask sends the request, and adds the response to the conversation.
func (l *loop) ask(stop agents.StopReason) *agents.Response {
	l.Helper()
	response, deltas := (*agents.Response)(nil), map[int]string{}
	for d, err := range l.model.Stream(l.context(), l.request) {
		switch {
		case err != nil:
			l.Fatal(err)
		case d.Restart != nil:
			clear(deltas)
		case d.Response != nil:
			response = d.Response
		default:
			deltas[d.Part] += d.Text
		}
	}
	if response == nil || response.Stop != stop {
		l.Fatalf("the response is %+v, want the stop %s", response, stop)
	}
	for i, p := range response.Message.Parts {
		if p.Type == agents.TypeText && l.request.Output == nil && deltas[i] != p.Text {
			l.Errorf("the deltas of part %d are %q, the text is %q", i, deltas[i], p.Text)
		}
	}
	l.request.Messages = append(l.request.Messages, response.Message)
	return response
}

// answer is ask for a final answer.
func (l *loop) answer(text string) *agents.Response {
	l.Helper()
	r := l.ask(agents.StopEnd)
	if r.Message.Text() != text {
		l.Errorf("the answer is %q, want %q", r.Message.Text(), text)
	}
	return r
}

// exact fails the test if a response reports losses.
func (l *loop) exact(r *agents.Response) {
	l.Helper()
	if len(r.Losses) > 0 {
		l.Errorf("losses %v", r.Losses)
	}
}

// results adds the results of all calls of the last message, by the real tools.
func (l *loop) results(calls ...*agents.Part) {
	l.Helper()
	m := &agents.Message{Role: agents.RoleUser}
	for _, c := range calls {
		r, err := l.request.Tools.Call(l.Context(), &toolpost.Call{Name: c.Name, Arguments: c.Arguments})
		if err != nil {
			r = toolpost.Failed.Resultf("%v", err)
		}
		m.Parts = append(m.Parts, agents.Part{Type: agents.TypeResult, Result: r.Message(c.ID)})
	}
	l.request.Messages = append(l.request.Messages, m)
}

func (l *loop) say(text string) {
	l.request.Messages = append(l.request.Messages, agents.UserText(text))
}

func adding(id string, a, b float64) use { return use{id, "mcp__tools__add", sum{a, b}} }

// onlyTools fails the test if the model was offered other tools than ours.
func (l *loop) onlyTools(want ...string) {
	l.Helper()
	var names []string
	for _, t := range l.api.requests()[0].Tools {
		names = append(names, t.Name)
	}
	if !slices.Equal(names, want) {
		l.Errorf("the model has the tools %q, want %q", names, want)
	}
}

func loopText(l *loop) {
	l.says(text("Hello ", "world."), text("Again."))
	r := l.answer("Hello world.")
	l.exact(r)
	if r.Usage.Input != 10 || r.Usage.Output != 5 || r.Model != "claude-sonnet-4-5" {
		l.Errorf("%+v", r)
	}
	l.onlyTools("mcp__tools__add")
	l.say("more @/etc/passwd")
	r = l.answer("Again.")
	l.exact(r)
	if r.Usage.Input != 10 {
		l.Errorf("the usage is counted twice: %+v", r.Usage)
	}
	l.saw("more @/etc/passwd")
	if n := len(l.api.requests()[1].Messages); n != 3 {
		l.Errorf("the model got %d messages", n)
	}
}

func loopTool(l *loop) {
	l.says(func(a *apiAnswer) {
		a.start()
		a.block(0, object{"type": "thinking", "thinking": "", "signature": ""},
			object{"type": "thinking_delta", "thinking": "hmm"}, object{"type": "signature_delta", "signature": "c2ln"})
		a.block(1, object{"type": "tool_use", "id": "toolu_1", "name": "mcp__tools__add", "input": object{}},
			object{"type": "input_json_delta", "partial_json": `{"a":2,"b":3}`})
		a.stop("tool_use")
	}, text("It is 5."))
	r := l.ask(agents.StopCalls)
	l.exact(r)
	if parts := r.Message.Parts; len(parts) != 2 || parts[0].Text != "hmm" || !strings.Contains(string(parts[0].Raw), `"signature":"c2ln"`) || parts[1].Name != "add" {
		l.Fatalf("%+v", parts)
	}
	l.results(r.Message.Calls()...)
	l.exact(l.answer("It is 5."))
	l.got("toolu_1", "5")
	if l.api.heard(`"signature":"c2ln"`) != 1 {
		l.Error("the model did not get its thinking again")
	}
}

func loopParallel(l *loop) {
	const n = 12 // more than the CLI runs at once by itself
	var all []use
	for i := range n {
		all = append(all, adding(fmt.Sprintf("toolu_%d", i), float64(i), 100))
	}
	l.says(uses(all...), text("Done."))
	r := l.ask(agents.StopCalls)
	calls := r.Message.Calls()
	if len(calls) != n {
		l.Fatalf("%d calls", len(calls))
	}
	slices.Reverse(calls)
	l.results(calls...)
	l.exact(l.answer("Done."))
	for i := range n {
		l.got(fmt.Sprintf("toolu_%d", i), fmt.Sprint(100+i))
	}
}

// pixel returns an image.
func pixel(l *loop) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		l.Fatal(err)
	}
	return b.Bytes()
}

// hasMedia fails the test if the model has not got an image and a document.
func (l *loop) hasMedia(in string, picture, document []byte) {
	l.Helper()
	for _, want := range []string{`"type":"image"`, `"image/png"`, `"type":"document"`, `"application/pdf"`,
		`"` + base64.StdEncoding.EncodeToString(picture) + `"`, `"` + base64.StdEncoding.EncodeToString(document) + `"`} {
		if !strings.Contains(in, want) {
			l.Errorf("the model did not get %s in %.3000s", want, in)
		}
	}
}

func loopMedia(l *loop) {
	l.says(uses(adding("toolu_1", 1, 2), adding("toolu_2", 1, 2)), text("Seen."))
	l.ask(agents.StopCalls)
	picture, document := pixel(l), []byte("%PDF-1.4 test")
	one := toolpost.NewResult(toolpost.Part{Type: "text", Text: "look"},
		toolpost.Part{Type: "image", MIMEType: "image/png", Data: picture}, toolpost.Part{Type: "resource", URI: "file:///a.pdf", MIMEType: "application/pdf", Data: document}).Message("toolu_1")
	two := toolpost.Failed.Resultf("it broke").Message("toolu_2")
	l.request.Messages = append(l.request.Messages, &agents.Message{Role: agents.RoleUser, Parts: []agents.Part{
		{Type: agents.TypeResult, Result: one}, {Type: agents.TypeResult, Result: two}}})
	l.exact(l.answer("Seen."))
	l.hasMedia(l.api.result("toolu_1"), picture, document)
	l.saw("Error executing tool: it broke")
	l.saw(`"is_error":true`)
}

func loopPromptMedia(l *loop) {
	l.says(text("Seen."))
	picture, document := pixel(l), []byte("%PDF-1.4 test")
	l.request.Messages[0].Parts = append(l.request.Messages[0].Parts,
		agents.Part{Type: agents.TypeImage, MIMEType: "image/png", Data: picture},
		agents.Part{Type: agents.TypeDocument, MIMEType: "application/pdf", Name: "a.pdf", Data: document},
		agents.Part{Type: agents.TypeDocument, MIMEType: "text/plain", Name: "b.txt", Data: []byte("plain words")})
	l.exact(l.answer("Seen."))
	l.hasMedia(l.api.requests()[0].body, picture, document)
	l.saw("plain words")
	l.saw(`"title":"a.pdf"`)
}

func loopSteering(l *loop) {
	l.says(uses(adding("toolu_1", 1, 2)), text("Hurried."), text("Again."))
	r := l.ask(agents.StopCalls)
	l.results(r.Message.Calls()...)
	last := l.request.Messages[len(l.request.Messages)-1]
	last.Parts = append(last.Parts, agents.Part{Type: agents.TypeText, Text: "hurry up"})
	l.exact(l.answer("Hurried."))
	l.saw("hurry up")
	l.say("next")
	l.exact(l.answer("Again."))
}

func loopInvalid(l *loop) {
	l.says(uses(use{"toolu_1", "nosuch", object{}}, use{"toolu_2", "mcp__tools__add", object{"a": "x"}}), text("Sorry."))
	r := l.ask(agents.StopCalls)
	m := &agents.Message{Role: agents.RoleUser}
	for _, c := range r.Message.Calls() {
		if c.Invalid == "" {
			l.Errorf("the call %+v is valid", c)
		}
		m.Parts = append(m.Parts, agents.Part{Type: agents.TypeResult, Result: toolpost.Failed.Resultf("mine: %s", c.Invalid).Message(c.ID)})
	}
	l.request.Messages = append(l.request.Messages, m)
	if r := l.answer("Sorry."); len(r.Losses) != 1 || r.Losses[0].Part != 0 {
		l.Errorf("losses %v", r.Losses)
	}
	l.saw("No such tool available")
	l.saw("mine: ")
}

// loopRestart goes on in another process, and in another one after a crash.
func loopRestart(l *loop) {
	l.says(uses(adding("toolu_1", 1, 2)), text("After the crash."), text("Followed."))
	r := l.ask(agents.StopCalls)
	if _, err := os.Stat("/proc/self/environ"); err == nil && len(l.processes()) == 0 {
		l.Error("the session does not wait")
	}
	if err := l.model.Close(); err != nil {
		l.Error(err)
	}
	l.gone()
	l.model = claudecli.New("claude-sonnet-4-5", &claudecli.Options{CLI: l.opts})
	l.results(r.Message.Calls()...)
	if r := l.answer("After the crash."); len(r.Losses) != 3 {
		l.Errorf("losses %v", r.Losses)
	}
	for _, want := range []string{`{\"role\":\"assistant\",\"tool_call\":\"add\",\"id\":\"toolu_1\",\"arguments\":{\"a\":1,\"b\":2}}`, `{\"role\":\"user\",\"text\":\"3\",\"result_of\":\"toolu_1\"}`} {
		l.saw(want)
	}
	l.say("and then?")
	l.exact(l.answer("Followed."))
}

func loopOutput(l *loop) {
	l.request.Output = schema.MustParse(`{"type":"array","items":{"type":"integer"}}`)
	l.says(uses(adding("toolu_1", 1, 2)), uses(use{"toolu_2", "StructuredOutput", object{"value": "x"}}), uses(use{"toolu_3", "StructuredOutput", object{"value": []int{3}}}), text("done"))
	r := l.ask(agents.StopCalls)
	l.results(r.Message.Calls()...)
	if r := l.answer("[3]"); r.Usage.Output != 10 {
		l.Errorf("the usage of two requests is %+v", r.Usage)
	}
}

func loopNoCalls(l *loop) {
	l.request.NoCalls = true
	l.says(uses(adding("toolu_1", 1, 2)), text("Well."))
	if r := l.answer("Well."); len(r.Losses) != 1 {
		l.Errorf("losses %v", r.Losses)
	}
	l.saw("Tools cannot be called now")
}

func loopBroken(l *loop) {
	l.says(breaking, text("Whole."))
	l.answer("Whole.")
}

func loopLength(l *loop) {
	l.request.MaxTokens = 1234
	l.says(func(a *apiAnswer) {
		a.start()
		a.block(0, object{"type": "text", "text": ""}, textDelta("cut o"))
		a.stop("max_tokens")
	})
	if r := l.ask(agents.StopLength); r.Message.Text() != "cut o" {
		l.Errorf("%+v", r)
	}
	if n := l.api.requests()[0].Max; n != 1234 {
		l.Errorf("the maximum is %d", n)
	}
}

func loopRefusal(l *loop) {
	l.says(func(a *apiAnswer) {
		a.start()
		a.block(0, object{"type": "text", "text": ""}, textDelta("I can"))
		a.stop("refusal")
	})
	l.ask(agents.StopRefusal)
}

// fails sends the request, and returns its error.
func (l *loop) fails(ctx context.Context, kind agents.ErrorKind) *agents.Error {
	l.Helper()
	var last error
	for _, err := range l.model.Stream(ctx, l.request) {
		last = err
	}
	e := (*agents.Error)(nil)
	if !errors.As(last, &e) || e.Kind != kind || strings.Contains(e.Error(), "sk-ant-dummy") {
		l.Fatalf("the error is %v", last)
	}
	return e
}

func loopFailures(l *loop) {
	l.opts.MaxRetries = -1
	l.model = claudecli.New("claude-sonnet-4-5", &claudecli.Options{CLI: l.opts})
	for _, f := range []struct {
		status     int
		kind, text string
		want       agents.ErrorKind
	}{
		{400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum", agents.KindTooLong},
		{400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API", agents.KindQuota},
		{400, "invalid_request_error", "wrong", agents.KindInvalid},
		{401, "authentication_error", "invalid x-api-key sk-ant-dummy", agents.KindAuth},
		{404, "not_found_error", "no such model", agents.KindInvalid},
		{429, "rate_limit_error", "slow down", agents.KindRateLimit},
		{500, "api_error", "boom", agents.KindServer},
		{529, "overloaded_error", "busy", agents.KindOverloaded},
	} {
		l.api.rest = func(apiRequest) say { return failing(f.status, f.kind, f.text) } // the CLI tries some again
		if e := l.fails(l.context(), f.want); e.Status != f.status {
			l.Errorf("%+v", e)
		}
	}
}

func loopNoServer(l *loop) {
	l.opts.Env = append(l.opts.Env, "ANTHROPIC_BASE_URL=http://127.0.0.1:1")
	l.opts.MaxRetries = -1
	l.model = claudecli.New("claude-sonnet-4-5", &claudecli.Options{CLI: l.opts})
	l.fails(l.context(), agents.KindConnection)
}

// loopAgent has the agent loop run two prompts in one session of the CLI.
func loopAgent(l *loop) {
	l.says(uses(adding("toolu_1", 1, 2), adding("toolu_2", 3, 4)), uses(adding("toolu_3", 5, 6)), text("All added."), text("You are welcome."))
	a, session := runner.New(l.model, toolpost.Tools{add()}, nil), runner.NewSession()
	for _, p := range [][2]string{{"Add.", "All added."}, {"Thanks.", "You are welcome."}} {
		r, err := a.Do(l.context(), session, agents.Part{Type: agents.TypeText, Text: p[0]})
		if err != nil || r.Text != p[1] {
			l.Fatalf("%+v, %v", r, err)
		}
	}
	l.got("toolu_1", "3")
	l.got("toolu_2", "7")
	l.got("toolu_3", "11")
	if n := l.api.heard("began in another session"); n != 0 {
		l.Errorf("the session was left: %d requests", n)
	}
}

func loopCancelWriting(l *loop) {
	said := make(chan struct{}, 9)
	l.says(talking(said))
	ctx, cancel := context.WithCancel(l.context())
	go func() { <-said; cancel() }()
	if e := l.fails(ctx, agents.KindConnection); !errors.Is(e, context.Canceled) {
		l.Errorf("%v", e)
	}
	l.gone()
}

// loopCancelWaiting has the context end before the results are there, and in the
// request that contains them.
func loopCancelWaiting(l *loop) {
	said := make(chan struct{}, 9)
	l.says(uses(adding("toolu_1", 1, 2)), silent(said))
	ctx, cancel := context.WithCancel(l.context())
	for d, err := range l.model.Stream(ctx, l.request) {
		if err != nil {
			l.Fatal(err)
		}
		if d.Response != nil {
			l.request.Messages = append(l.request.Messages, d.Response.Message)
			l.results(d.Response.Message.Calls()...)
		}
	}
	cancel() // of a request that has ended: the session still waits
	ctx, cancel = context.WithCancel(l.context())
	go func() { <-said; cancel() }()
	l.fails(ctx, agents.KindConnection)
	l.gone()
	l.got("toolu_1", "3")
	if n := l.api.heard("began in another session"); n != 0 {
		l.Error("the session did not wait")
	}
}
