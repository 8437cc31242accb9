package message_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/claude/message"
)

// requirement 2, FR-008, SC-005 and the edge case: a value of another type counts
// as 0, a boolean as 1 or 0, and neither without a warning.
func TestNumbers(t *testing.T) {
	for text, want := range map[string]struct {
		n  int64
		f  float64
		ok bool
	}{
		`7`:                    {7, 7, true},
		`-7`:                   {-7, -7, true},
		`null`:                 {0, 0, true},
		`true`:                 {1, 1, false},
		`false`:                {0, 0, false},
		`1e3`:                  {1000, 1000, true},
		`9007199254740993`:     {9007199254740993, 9007199254740992, true},
		`9223372036854775807`:  {math.MaxInt64, math.MaxInt64, true},
		`-9223372036854775808`: {math.MinInt64, math.MinInt64, true},
		`"42"`:                 {0, 0, false},
		`" 42 "`:               {0, 0, false},
		`"4\u0032"`:            {0, 0, false},
		`"2.9"`:                {0, 0, false},
		`"9007199254740993"`:   {0, 0, false},
		`"many"`:               {0, 0, false},
		`""`:                   {0, 0, false},
		`"NaN"`:                {0, 0, false},
		`"inf"`:                {0, 0, false},
		`"0x10"`:               {0, 0, false},
		`"1_000"`:              {0, 0, false},
		`1e999`:                {0, 0, false},
		`[1]`:                  {0, 0, false},
		`{"n":1}`:              {0, 0, false},
	} {
		if n, ok := message.Integer(text); n != want.n || ok != want.ok {
			t.Errorf("integer %s: %d, %v; want %d, %v", text, n, ok, want.n, want.ok)
		}
		if f, ok := message.Float(text); f != want.f || ok != want.ok {
			t.Errorf("float %s: %v, %v; want %v, %v", text, f, ok, want.f, want.ok)
		}
	}
	for text, want := range map[string]int64{`2.9`: 2, `-2.9`: -2} { // a float loses nothing
		if n, ok := message.Integer(text); n != want || ok {
			t.Errorf("integer %s: %d, %v", text, n, ok)
		}
		if f, ok := message.Float(text); !ok || int64(f) != want {
			t.Errorf("float %s: %v, %v", text, f, ok)
		}
	}
	for _, text := range []string{`1e30`, `9223372036854775808`, `"-1e19"`} {
		if n, ok := message.Integer(text); n != 0 || ok {
			t.Errorf("integer %s: %d, %v", text, n, ok)
		}
	}
}

// requirement 2, FR-002, SC-002 and user story 2: all of a usage is kept.
func TestParseUsage(t *testing.T) {
	serverTools := message.Usage{}
	serverTools.ServerToolUse.WebSearchRequests, serverTools.ServerToolUse.WebFetchRequests = 5, 6
	caches := message.Usage{ServiceTier: "standard"}
	caches.CacheCreation.Ephemeral1hInputTokens, caches.CacheCreation.Ephemeral5mInputTokens = 7, 8
	details := message.Usage{InferenceGeo: "eu", Speed: "fast", Iterations: []byte("[1]")}
	details.OutputTokensDetails.ThinkingTokens = 9
	for text, want := range map[string]message.Usage{
		`{"input_tokens":1,"output_tokens":2,"cache_creation_input_tokens":3,"cache_read_input_tokens":4}`: {
			InputTokens: 1, OutputTokens: 2, CacheCreationInputTokens: 3, CacheReadInputTokens: 4,
		},
		`{"server_tool_use":{"web_search_requests":5,"web_fetch_requests":6}}`:                                                        serverTools,
		`{"cache_creation":{"ephemeral_1h_input_tokens":7,"ephemeral_5m_input_tokens":8},"service_tier":"standard"}`:                  caches,
		`{"output_tokens_details":{"thinking_tokens":9},"inference_geo":"eu","speed":"fast","iterations":[1],"fallback_credit":null}`: details,
		`{"input_tokens":null,"server_tool_use":null,"cache_creation":null,"service_tier":null,"of_tomorrow":1}`:                      {},
		`null`: {},
		``:     {},
	} {
		got, warnings := message.ParseUsage([]byte(text))
		if diff := cmp.Diff(want, got); diff != "" || len(warnings) > 0 {
			t.Errorf("%s: %v\n%s", text, warnings, diff)
		}
	}
}

// requirement 2, FR-008: each thing that is not as it ought to be has a warning,
// and the rest is kept.
func TestParseUsageWarns(t *testing.T) {
	for text, want := range map[string]string{
		`{"input_tokens":"many","output_tokens":2}`:                             "input_tokens",
		`{"input_tokens":-1,"output_tokens":2}`:                                 "input_tokens",
		`{"input_tokens":"-3","output_tokens":2}`:                               "input_tokens",
		`{"input_tokens":"12","output_tokens":2}`:                               "input_tokens",
		`{"input_tokens":" 5 ","output_tokens":2}`:                              "input_tokens",
		`{"input_tokens":"1e3","output_tokens":2}`:                              "input_tokens",
		`{"input_tokens":false,"output_tokens":2}`:                              "input_tokens",
		`{"input_tokens":0.5,"output_tokens":2}`:                                "input_tokens",
		`{"server_tool_use":{"web_fetch_requests":-1},"output_tokens":2}`:       "server_tool_use.web_fetch_requests",
		`{"input_tokens":[1],"output_tokens":2}`:                                "input_tokens",
		`{"server_tool_use":"none","output_tokens":2}`:                          "server_tool_use",
		`{"server_tool_use":{"web_search_requests":{}},"output_tokens":2}`:      "server_tool_use.web_search_requests",
		`{"cache_creation":[],"output_tokens":2}`:                               "cache_creation",
		`{"cache_creation":{"ephemeral_1h_input_tokens":""},"output_tokens":2}`: "cache_creation.ephemeral_1h_input_tokens",
		`{"service_tier":5,"output_tokens":2}`:                                  "service_tier",
	} {
		got, warnings := message.ParseUsage([]byte(text))
		if diff := cmp.Diff(message.Usage{OutputTokens: 2}, got); diff != "" {
			t.Errorf("%s:\n%s", text, diff)
		}
		if len(warnings) != 1 || !strings.Contains(warnings[0], `"`+want+`"`) {
			t.Errorf("%s: warnings %q, want one for %s", text, warnings, want)
		}
	}
	for _, text := range []string{`[1]`, `"text"`, `7`, `{"input_tokens"`} {
		if got, warnings := message.ParseUsage([]byte(text)); !cmp.Equal(got, message.Usage{}) || len(warnings) != 1 {
			t.Errorf("%s: %+v, %q", text, got, warnings)
		}
	}
}

// Warnings are on the message, and logged.
func TestNumberWarnings(t *testing.T) {
	p, log := logged()
	m, err := p.Parse([]byte(`{"type":"result","subtype":"success","is_error":false,"num_turns":"few","duration_ms":true,"total_cost_usd":"0.5","usage":{"input_tokens":[]},"modelUsage":{"m":{"costUSD":{},"inputTokens":-5}}}`))
	if err != nil {
		t.Fatal(err)
	}
	r := m.(*message.Result)
	if r.NumTurns != 0 || r.DurationMS != 1 || r.TotalCostUSD != 0 {
		t.Errorf("the result is %+v", r)
	}
	for _, field := range []string{"num_turns", "duration_ms", "total_cost_usd", "usage.input_tokens", "modelUsage.m.costUSD", "modelUsage.m.inputTokens"} {
		if !strings.Contains(strings.Join(r.Warnings, "\n"), `"`+field+`"`) || !strings.Contains(log.String(), field) {
			t.Errorf("there is no warning for %s: %q\n%s", field, r.Warnings, log)
		}
	}
	if len(r.Warnings) != 6 || r.ModelUsage["m"].InputTokens != 0 {
		t.Errorf("warnings are %q", r.Warnings)
	}
	if m, err = p.Parse([]byte(`{"type":"keep_alive"}`)); err != nil || len(m.Head().Warnings) > 0 {
		t.Errorf("the next has %q, %v", m.Head().Warnings, err)
	}
}

func FuzzUsage(f *testing.F) {
	f.Add(`{"input_tokens":"1","server_tool_use":{"web_search_requests":2.5},"cache_creation":[]}`)
	f.Add(`{"output_tokens":1e400,"service_tier":null}`)
	f.Fuzz(func(t *testing.T, text string) {
		u, warnings := message.ParseUsage([]byte(text))
		again, same := message.ParseUsage([]byte(text))
		if !cmp.Equal(u, again) || !cmp.Equal(warnings, same) {
			t.Errorf("%s: %v then %v", text, u, again)
		}
		n, exact := message.Integer(text)
		if f, ok := message.Float(text); exact && (!ok || math.Abs(f-float64(n)) >= 1) {
			t.Errorf("%s: %d and %v", text, n, f)
		}
	})
}
