package config

import (
	"slices"
	"strings"
	"testing"
)

func TestOutputOfAConfiguration(t *testing.T) {
	for text, want := range map[string]Output{
		`{"mcpServers":{}}`:                                          {},
		`{"mcpServers":{},"output":false}`:                           {Off: true},
		`{"mcpServers":{},"output":true}`:                            {},
		`{"mcpServers":{},"output":{"lines":50,"chars":9000}}`:       {Lines: 50, Chars: 9000},
		`{"mcpServers":{},"output":{"errors":1000,"chars":48000,},}`: {Errors: 1000, Chars: 48000},
	} {
		cfg, err := Parse("toolpost.json", []byte(text), nil)
		if err != nil || cfg.Output != want {
			t.Errorf("%s: %+v, %v", text, cfg, err)
		}
	}
	for text, want := range map[string]string{
		`{"mcpServers":{},"output":{"line":50}}`:  `toolpost.json:1:28: unknown key "line" in output; did you mean "lines"?`,
		`{"mcpServers":{},"output":{"chars":50}}`: `toolpost.json:1:36: output.chars is not a number from 1000 to 2147483647`,
		`{"mcpServers":{},"output":"no"}`:         `toolpost.json:1:27: output is a string; want an object`,
	} {
		if _, err := Parse("toolpost.json", []byte(text), nil); err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestOutputOfAServer(t *testing.T) {
	for text, want := range map[string][]OutputLimit{
		`true`:                         {{"*", 0}},
		`false`:                        {{"*", -1}},
		`5000`:                         {{"*", 5000}},
		`{"export_*":false,"*":2000,}`: {{"export_*", -1}, {"*", 2000}},
		`null`:                         nil,
	} {
		cfg, err := Parse("toolpost.json", []byte(`{"mcpServers":{"a":{"command":"x","output":`+text+`}}}`), nil)
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
		cfg, err := Parse("toolpost.json", []byte(`{"mcpServers":{"a":{"command":"x","output":`+text+`}}}`), nil)
		if err != nil || cfg.Servers[0].Err == nil || !strings.Contains(cfg.Servers[0].Err.Error(), want) {
			t.Errorf("%s: %v, %v", text, err, cfg)
		}
	}
}
