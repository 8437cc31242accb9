package gateway_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/store"
)

func TestOutputOfAConfiguration(t *testing.T) {
	for text, want := range map[string]gateway.Output{
		`{"mcpServers":{}}`:                                          {},
		`{"mcpServers":{},"output":false}`:                           {Off: true},
		`{"mcpServers":{},"output":true}`:                            {},
		`{"mcpServers":{},"output":{"lines":50,"chars":9000}}`:       {Lines: 50, Chars: 9000},
		`{"mcpServers":{},"output":{"errors":1000,"chars":48000,},}`: {Errors: 1000, Chars: 48000},
	} {
		cfg, err := gateway.ParseConfig("toolpost.json", []byte(text), nil)
		if err != nil || cfg.Output != want {
			t.Errorf("%s: %+v, %v", text, cfg, err)
		}
	}
	for text, want := range map[string]string{
		`{"mcpServers":{},"output":{"line":50}}`:  `toolpost.json:1:28: unknown key "line" in output; did you mean "lines"?`,
		`{"mcpServers":{},"output":{"chars":50}}`: `toolpost.json:1:36: output.chars is not a number from 1000 to 2147483647`,
		`{"mcpServers":{},"output":"no"}`:         `toolpost.json:1:27: output is a string; want an object`,
	} {
		if _, err := gateway.ParseConfig("toolpost.json", []byte(text), nil); err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The configuration says what is cut, also one that comes later.
func TestOutputsAreCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := prefixed(servers("a", strings.Repeat("x", 5000)), "")
		g, f := openWith(t, cfg, &gateway.Options{Store: store.Memory(nil)})
		f.last("a").connect("big")
		synctest.Wait()
		size := func() int { return len(call(g, "big")) }
		if n := size(); n < 5000 {
			t.Errorf("a result within the default limit has %d bytes", n)
		}
		before := g.Live().Set().Lookup("big")
		reload := func(o gateway.Output, want ...string) {
			t.Helper()
			next := *cfg
			next.Output = o
			if err := g.Reload(t.Context(), &next); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if diff := cmp.Diff(want, names(g)); diff != "" {
				t.Error(diff)
			}
		}
		reload(gateway.Output{}, "big", "tool_output_cache", "tool_output_cache_grep")
		if g.Live().Set().Lookup("big") != before {
			t.Error("a tool is another one though nothing changed")
		}
		reload(gateway.Output{Chars: 1000}, "big", "tool_output_cache", "tool_output_cache_grep")
		if n := size(); n > 1010 { // … has three bytes
			t.Errorf("a result above the limit has %d bytes", n)
		}
		cfg.Servers[0].Outputs = []gateway.OutputLimit{{"bi?", -1}, {"*", 1000}}
		reload(gateway.Output{Chars: 1000}, "big")
		if n := size(); n < 5000 {
			t.Errorf("a result of a tool that is not to be cut has %d bytes", n)
		}
		cfg.Servers[0].Outputs = []gateway.OutputLimit{{"other", -1}, {"*", 2000}}
		reload(gateway.Output{Off: true}, "big")
		if n := size(); n < 5000 {
			t.Errorf("a result has %d bytes though nothing is to be cut", n)
		}
		reload(gateway.Output{Chars: 1000}, "big", "tool_output_cache", "tool_output_cache_grep")
		if n := size(); n < 1500 || n > 2010 {
			t.Errorf("a result of a tool with a limit of its own has %d bytes", n)
		}
	})
}

func TestOutputOfAServer(t *testing.T) {
	for text, want := range map[string][]gateway.OutputLimit{
		`true`:                         {{"*", 0}},
		`false`:                        {{"*", -1}},
		`5000`:                         {{"*", 5000}},
		`{"export_*":false,"*":2000,}`: {{"export_*", -1}, {"*", 2000}},
		`null`:                         nil,
	} {
		cfg, err := gateway.ParseConfig("toolpost.json", []byte(`{"mcpServers":{"a":{"command":"x","output":`+text+`}}}`), nil)
		if err != nil || cfg.Servers[0].Err != nil || !slices.Equal(cfg.Servers[0].Outputs, want) {
			t.Errorf("%s: %+v, %v", text, cfg.Servers[0], err)
		}
	}
	for text, want := range map[string]string{
		`"no"`:       `mcpServers.a.output is a string; want false, or a number of characters`,
		`{"x":[]}`:   `mcpServers.a.output.x is an array; want false, or a number of characters`,
		`10`:         `mcpServers.a.output is not a number from 1000 to 2147483647`,
		`{"x":10.5}`: `mcpServers.a.output.x is not a number from 1000 to 2147483647`,
	} {
		cfg, err := gateway.ParseConfig("toolpost.json", []byte(`{"mcpServers":{"a":{"command":"x","output":`+text+`}}}`), nil)
		if err != nil || cfg.Servers[0].Err == nil || !strings.Contains(cfg.Servers[0].Err.Error(), want) {
			t.Errorf("%s: %v, %v", text, err, cfg)
		}
	}
}
