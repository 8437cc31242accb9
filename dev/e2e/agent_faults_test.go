package e2e_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/dep"
	"github.com/toolpost/toolpost/dev/modeltest"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/anthropic"
	"github.com/toolpost/toolpost/model/claudecli"
	"github.com/toolpost/toolpost/model/gemini"
	"github.com/toolpost/toolpost/model/openai"
	"github.com/toolpost/toolpost/usage"
)

// A biller is a fake provider without a network. It answers by chance, breaks off, and
// writes down what it has told the client of its bill, and which calls may run.
type biller struct {
	t      *testing.T
	name   string
	seed   uint64
	random *rand.Rand

	mu       sync.Mutex
	requests int
	billed   *usage.Ledger
	complete map[string]bool // the calls of complete responses, by the text of their argument
	shown    map[string]bool // the calls that were shown and allowed

	told      []*usage.Tokens // of messages of a fakeCLI
	turnstile chan struct{}   // of a fakeCLI: one at a time waits until all others wait
}

// wire is the provider's format, and markers of its events: those with the first tokens,
// with all tokens, and with the end of the response.
func (b *biller) wire() (w modeltest.Wire, first, all, end string) {
	switch b.name {
	case "anthropic":
		return modeltest.Anthropic(), `"type":"message_start"`, `"type":"message_delta"`, `"type":"message_stop"`
	case "openai":
		return modeltest.Responses(), "", `"usage":{"input_tokens":`, "event: response.completed"
	case "chat":
		return modeltest.Chat(), "", `"prompt_tokens":`, `"finish_reason":"`
	}
	return modeltest.Gemini(), `"usageMetadata"`, `"finishReason"`, `"finishReason"`
}

func (b *biller) open() (model.Model, error) {
	if b.name == "claude-cli" {
		return claudecli.New("sonnet", &claudecli.Options{CLI: &claude.Options{Start: b.startCLI, Logger: slog.New(slog.DiscardHandler)}}), nil
	}
	client := &http.Client{Transport: b}
	const url = "http://provider.invalid"
	switch b.name {
	case "anthropic":
		return anthropic.New("claude-test", &anthropic.Options{APIKey: modeltest.Key, BaseURL: url, HTTPClient: client}), nil
	case "openai":
		return openai.New("gpt-test", &openai.Options{APIKey: modeltest.Key, BaseURL: url, HTTPClient: client}), nil
	case "chat":
		return openai.NewChat("gpt-test", &openai.Options{APIKey: modeltest.Key, BaseURL: url, HTTPClient: client}), nil
	}
	return gemini.New("gemini-3-pro-preview", &gemini.Options{APIKey: modeltest.Key, BaseURL: url, HTTPClient: client}), nil
}

// turn is what the model says next.
func (b *biller) turn() *modeltest.Turn {
	turn := &modeltest.Turn{Tokens: usage.Tokens{Input: 1 + b.random.IntN(100), CacheRead: b.random.IntN(50), Output: 5 + b.random.IntN(50), Reasoning: b.random.IntN(5)}}
	if b.requests > 8 {
		turn.Parts = []model.Part{model.Text("The end.")}
		return turn
	}
	if b.random.IntN(6) == 0 {
		kinds := []model.ErrorKind{model.KindOverloaded, model.KindRateLimit, model.KindServer, model.KindAuth, model.KindTooLong, model.KindInvalid, model.KindQuota}
		turn.Fail = &modeltest.Failure{Kind: kinds[b.random.IntN(len(kinds))], Late: b.random.IntN(2) == 0}
		return turn
	}
	if b.random.IntN(8) > 0 { // otherwise it is empty
		turn.Parts = append(turn.Parts, model.Text(fmt.Sprintf("Turn %d.", b.requests)))
	}
	for n := range b.random.IntN(4) {
		id := fmt.Sprintf("call_%d_%d", b.requests, n*b.random.IntN(2)) // some twice
		name := []string{"free", "asks", "unknown"}[b.random.IntN(3)]
		turn.Parts = append(turn.Parts, model.Part{Type: model.TypeCall, ID: id, Name: name, Arguments: json.RawMessage(fmt.Sprintf(`{"text":"%d.%d"}`, b.requests, n))})
	}
	switch b.random.IntN(8) {
	case 0:
		turn.Stop = model.StopLength
	case 1:
		turn.Stop = model.StopRefusal
	}
	if (b.name == "openai" || b.name == "chat") && turn.Stop == model.StopRefusal && len((&model.Message{Parts: turn.Parts}).Text()) == 0 {
		turn.Stop = "" // there, a refusal is a text
	}
	return turn
}

// RoundTrip implements [http.RoundTripper].
func (b *biller) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests++
	wire, _, _, _ := b.wire()
	if err := wire.Check(body); err != nil {
		b.t.Errorf("%s, seed %d: the provider would refuse the request: %v\n%s", b.name, b.seed, err, body)
	}
	if b.random.IntN(20) == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	turn, w := b.turn(), httptest.NewRecorder()
	if turn.Fail != nil {
		wire.Fail(w, turn.Fail, "this is a test")
		return w.Result(), nil
	}
	wire.Answer(w, w.Header(), turn)
	events := bytes.SplitAfter(w.Body.Bytes(), []byte("\n\n"))
	if turn.Stop != "" && b.requests%2 == 0 {
		events = b.endTwice(events)
	}
	s := &billedStream{b: b, ctx: r.Context(), turn: turn, events: events}
	if b.random.IntN(4) == 0 {
		at := b.random.IntN(len(events))
		s.events, s.cut = events[:at], events[at][:len(events[at])/2]
		s.breaks = true
	}
	response := w.Result()
	response.Body = s
	return response, nil
}

// endTwice adds a second end to a response that was cut off or refused, as if it were
// complete.
func (b *biller) endTwice(events [][]byte) [][]byte {
	second, ok := map[string]string{
		"anthropic": "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\n",
		"chat":      "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
		"gemini":    "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n",
	}[b.name]
	marker := map[string]string{"anthropic": "stop_reason\":\"", "chat": "finish_reason\":\"", "gemini": "finishReason"}[b.name]
	at := slices.IndexFunc(events, func(e []byte) bool { return ok && bytes.Contains(e, []byte(marker)) })
	if at < 0 {
		return events
	}
	return slices.Insert(events, at+1, []byte(second))
}

// A billedStream gives one event a read, so that what the client has not read is known.
type billedStream struct {
	b      *biller
	ctx    context.Context
	turn   *modeltest.Turn
	events [][]byte
	cut    []byte // the beginning of an event, after which the connection breaks
	breaks bool
	rest   []byte
	told   usage.Tokens
}

func (s *billedStream) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	if len(s.rest) == 0 {
		switch {
		case len(s.events) > 0:
			s.rest, s.events = s.events[0], s.events[1:]
			s.tell(string(s.rest))
		case len(s.cut) > 0:
			s.rest, s.cut = s.cut, nil
		case s.breaks:
			return 0, io.ErrUnexpectedEOF
		default:
			return 0, io.EOF
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// tell notes what an event says.
func (s *billedStream) tell(event string) {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	_, first, all, end := s.b.wire()
	t := s.turn.Tokens
	switch {
	case strings.Contains(event, all):
		s.told = t
	case first != "" && strings.Contains(event, first) && s.b.name == "gemini":
		s.told = usage.Tokens{Input: 1}
	case first != "" && strings.Contains(event, first):
		s.told = usage.Tokens{Input: t.Input, CacheRead: t.CacheRead}
	}
	if strings.Contains(event, end) && s.turn.Stop == "" {
		for _, c := range (&model.Message{Parts: s.turn.Parts}).Calls() {
			var in struct{ Text string }
			_ = json.Unmarshal(c.Arguments, &in) // it is ours
			s.b.complete[in.Text] = true
		}
	}
}

func (s *billedStream) Close() error {
	s.b.mu.Lock()
	defer s.b.mu.Unlock()
	if s.told != (usage.Tokens{}) {
		s.b.billed.AddRequest("model", s.told, 0, true)
		s.told = usage.Tokens{}
	}
	return nil
}

// tools are one that runs at once and one that asks.
func (b *biller) tools() toolpost.Toolset {
	named := func(name string) *toolpost.Tool {
		return toolpost.New(name, "A tool.", func(_ context.Context, in struct {
			Text string `json:"text"`
		}) (string, error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			if id := strings.TrimPrefix(in.Text, "edited "); !b.complete[id] || name == "asks" && !b.shown[in.Text] {
				b.t.Errorf("%s, seed %d: the call %q of %s ran (complete: %v)", b.name, b.seed, in.Text, name, b.complete[id])
			}
			return "fine", nil
		}, nil)
	}
	return toolpost.Tools{named("free"), named("asks")}
}

func (b *biller) approve(_ context.Context, c *agent.Request) (agent.Decision, error) {
	if c.Name != "asks" {
		return agent.Decision{Allow: true}, nil
	}
	var in struct{ Text string }
	if err := json.Unmarshal(c.Arguments, &in); err != nil {
		return agent.Decision{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch b.random.IntN(4) {
	case 0:
		return agent.Decision{}, nil
	case 1:
		return agent.Decision{Wait: true}, nil // and nobody decides
	case 2:
		b.shown["edited "+in.Text] = true
		return agent.Decision{Allow: true, Arguments: json.RawMessage(`{"text":"edited ` + in.Text + `"}`)}, nil
	}
	b.shown[in.Text] = true
	return agent.Decision{Allow: true}, nil
}

// run has a conversation of three prompts, of which some are cancelled or left.
func (b *biller) run() {
	m, err := b.open()
	if err != nil {
		b.t.Fatal(err)
	}
	if c, ok := m.(io.Closer); ok {
		defer c.Close()
	}
	s := agent.NewSession()
	a := agent.New(m, b.tools(), &agent.Options{Approve: b.approve, Hold: b.random.IntN(2) == 0})
	quiet := dep.Logger.With(b.t.Context(), slog.New(slog.DiscardHandler))
	for range 3 {
		ctx, cancel := context.WithCancel(quiet)
		end, n := 1+b.random.IntN(60), 0
		leaves := b.random.IntN(2) == 0
		for range a.Run(ctx, s, model.Text("Go on.")) {
			if n++; n == end && leaves {
				break
			} else if n == end {
				cancel()
			}
		}
		cancel()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	want := b.billed.Tokens
	for _, t := range b.told {
		want = want.Add(*t)
	}
	if got := s.Usage().Tokens; got != want {
		b.t.Errorf("%s, seed %d: the ledger has %+v, the provider billed %+v", b.name, b.seed, got, want)
	}
}

// faultRuns returns how many runs there are: n, if nothing else is asked for.
func faultRuns(n int) int {
	if asked, err := strconv.Atoi(os.Getenv("TOOLPOST_FAULT_RUNS")); err == nil {
		return asked
	}
	if raced || testing.Short() {
		return n / 10
	}
	return n
}

// TestFaults: whatever a provider does, no call runs that was not in a complete,
// accepted response, or that was not allowed where a rule asks; and the ledger is what
// the provider billed. TOOLPOST_FAULT_RUNS=10000 makes more runs; a failure names its seed.
func TestFaults(t *testing.T) {
	runs := faultRuns(500)
	for _, name := range []string{"anthropic", "openai", "chat", "gemini", "claude-cli"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runs := runs / 5
			if name == "claude-cli" {
				runs = faultRuns(200) / 5 // they take longer
			}
			for seed := range uint64(runs) {
				synctest.Test(t, func(t *testing.T) {
					b := &biller{t: t, name: name, seed: seed, random: rand.New(rand.NewPCG(seed, cmp.Or(uint64(len(name)), 1))),
						billed: new(usage.Ledger), complete: map[string]bool{}, shown: map[string]bool{}, turnstile: make(chan struct{}, 1)}
					b.run()
				})
				if t.Failed() {
					return
				}
			}
		})
	}
}
