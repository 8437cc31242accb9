package config_test

import (
	"testing"

	"github.com/toolpost/toolpost/config"
)

func TestSpellingsOfTransports(t *testing.T) {
	for _, name := range []string{"http", "HTTP", "streamable-http", "streamableHttp", "streamable_http", "StreamableHTTP", "Sse", "SSE"} {
		cfg, err := config.Parse("toolpost.json", []byte(`{"mcpServers":{"a":{"type":"`+name+`","url":"http://127.0.0.1:1/mcp"}}}`), nil)
		if err != nil || len(cfg.Servers) != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLiteralVariables(t *testing.T) {
	env := func(name string) (string, bool) { return "<" + name + ">", true }
	for text, want := range map[string]string{
		"$${A}": "${A}", "p$${A}q${B}": "p${A}q<B>", "$$${A}": "$${A}", "$${": "${", "$${A": "${A", "${A:-$${B}}": "<A>", "$$A": "$$A", "${A}$": "<A>$", "$${A}$${B}": "${A}${B}",
	} {
		if got, err := config.Expand(text, env); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", text, got, err, want)
		}
	}
}
