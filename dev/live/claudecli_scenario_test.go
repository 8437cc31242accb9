//go:build unix

package live

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"testing"

	"github.com/toolpost/toolpost/dev/modeltest"
	agents "github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/claudecli"
)

// TestClaudeModelScenarios runs the scenarios of all providers with the real
// CLI, which sends its own requests to the fake API.
func TestClaudeModelScenarios(t *testing.T) {
	bin := claudeCLI(t)
	modeltest.Run(t, modeltest.Provider{
		Name: "claude-cli", Wire: cliWire(), Sends: sendsBlock,
		New:     func(url string) agents.Model { return cliModel(t, bin, url) },
		Unknown: json.RawMessage(`{"type":"server_tool_use","id":"srvtoolu_1","name":"future_tool","input":{}}`),
		Skip: map[string]string{
			"structured output":   "the CLI asks again until its tool is called: loopOutput",
			"length":              "the CLI may go on before it is interrupted: loopLength",
			"length in arguments": "the CLI may go on before it is interrupted: loopLength",
			"unknown part":        "the CLI leaves a call without its result out of its own history",
			"image":               "the CLI reads images, and the scenario's is not one: loopPromptMedia",
			"errors":              "the CLI has its own texts, tries some requests again, and does not report retry-after: loopFailures",
			"endless response":    "the CLI reads the response; its lines are limited",
			"endless error":       "the CLI reads the response",
			"many calls":          "the CLI would keep 2001 calls open",
			"cut stream":          "it starts the CLI 60 times: loopBroken",
		},
	})
}

// cliWire is the wire format of the API, with the names that the CLI gives to our
// tools.
func cliWire() modeltest.Wire {
	wire := modeltest.Anthropic()
	wire.Check = func([]byte) error { return nil }
	answer := wire.Answer
	wire.Answer = func(w io.Writer, header http.Header, turn *modeltest.Turn) {
		renamed := *turn
		renamed.Parts = nil
		for _, p := range turn.Parts {
			if p.Type == agents.TypeCall {
				p.Name = "mcp__tools__" + p.Name
			}
			renamed.Parts = append(renamed.Parts, p)
		}
		answer(w, header, &renamed)
	}
	return wire
}

// claudeCLI returns the path of the real CLI.
func claudeCLI(t *testing.T) string {
	return peer(t, "@anthropic-ai/claude-code", "", "node_modules/@anthropic-ai/claude-code-*/claude")
}

// cliModel returns a model of the CLI, which uses the API at url.
func cliModel(t *testing.T, bin, url string) agents.Model {
	t.Helper()
	s := newStage(t, bin)
	s.opts.Env = append(s.opts.Env, "ANTHROPIC_BASE_URL="+url, "ANTHROPIC_API_KEY="+modeltest.Key)
	s.opts.MaxRetries = -1
	m := claudecli.New("claude-sonnet-4-5", &claudecli.Options{CLI: s.opts})
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return m
}

// sendsBlock reports whether a request contains a block. The CLI leaves out
// members that only describe a block, and adds one for the cache.
func sendsBlock(body []byte, raw json.RawMessage) bool {
	var request struct {
		Messages []struct{ Content json.RawMessage }
	}
	var want map[string]any
	if json.Unmarshal(body, &request) != nil || json.Unmarshal(raw, &want) != nil {
		return false
	}
	for _, name := range []string{"caller", "citations", "future", "cache_control"} {
		delete(want, name)
	}
	for _, m := range request.Messages {
		var blocks []map[string]any
		if !bytes.HasPrefix(m.Content, []byte("[")) || json.Unmarshal(m.Content, &blocks) != nil {
			continue
		}
		for _, b := range blocks {
			for _, name := range []string{"caller", "citations", "future", "cache_control"} {
				delete(b, name)
			}
			if reflect.DeepEqual(b, want) {
				return true
			}
		}
	}
	return false
}
