package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// fakeClaude is a claude command that plays a part given by the prompt: "talk",
// "call" a tool of ours, "fail" as the API may, or "wait" for an interrupt.
func fakeClaude() {
	c := &fakeCLI{in: bufio.NewReader(os.Stdin)}
	if slices.Contains(os.Args, "--version") {
		fmt.Println("2.1.329 (Claude Code)")
		return
	}
	hello := c.read()
	for _, tool := range hello.Request.Manifests["tools"].List.Tools {
		c.tools = append(c.tools, "mcp__tools__"+tool.Name)
	}
	c.answer(hello.RequestID)
	prompt := c.read().Message.Content[0].Text
	c.write(fields{"type": "system", "subtype": "init", "tools": c.tools, "model": flagValue("--model")})
	failed := false
	switch strings.TrimSpace(prompt) {
	case "talk":
		c.text("msg_1", "Hello \x1b[31m", "world.")
	case "call":
		c.callTool()
	case "fail":
		c.write(fields{"type": "system", "subtype": "api_retry", "attempt": 1, "max_retries": 2, "retry_delay_ms": 1500, "error_status": 529, "error": "overloaded"})
		c.write(fields{"type": "assistant", "error": "overloaded", "message": fields{"id": "e", "model": "<synthetic>", "content": texts("API Error: 529")}})
		failed = true
	case "wait":
		c.begin("msg_1", "Wait")
		c.answer(c.read().RequestID)
		failed = true
	}
	c.end(failed)
	for c.read() != nil { // until the input ends
	}
	if failed {
		os.Exit(1)
	}
}

func flagValue(name string) string {
	for _, arg := range os.Args {
		if value, ok := strings.CutPrefix(arg, name+"="); ok {
			return value
		}
	}
	return ""
}

type fields = map[string]any

func texts(text string) []fields { return []fields{{"type": "text", "text": text}} }

type fakeCLI struct {
	in    *bufio.Reader
	tools []string
}

// A fakeLine is what is needed of a line that a host writes.
type fakeLine struct {
	RequestID string `json:"request_id"`
	Request   struct {
		Manifests map[string]struct {
			List struct {
				Tools []struct{ Name string }
			} `json:"toolsListResult"`
		} `json:"sdkMcpServerManifests"`
	}
	Message struct {
		Content []struct{ Text string }
	}
	Response struct {
		Response struct {
			MCP struct{ Result toolAnswer } `json:"mcp_response"`
		}
	}
}

type toolAnswer struct {
	Content []fields
	IsError bool
}

func (c *fakeCLI) read() *fakeLine {
	line, err := c.in.ReadBytes('\n')
	if err != nil {
		return nil
	}
	l := &fakeLine{}
	if err := json.Unmarshal(line, l); err != nil {
		panic(err)
	}
	return l
}

func (c *fakeCLI) write(f fields) {
	line, err := json.Marshal(f)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", line)
}

func (c *fakeCLI) answer(id string) {
	c.write(fields{"type": "control_response", "response": fields{"subtype": "success", "request_id": id, "response": fields{}}})
}

// ask sends a message to the tools.
func (c *fakeCLI) ask(message fields) toolAnswer {
	message["jsonrpc"] = "2.0"
	c.write(fields{"type": "control_request", "request_id": "r", "request": fields{"subtype": "mcp_message", "server_name": "tools", "message": message}})
	return c.read().Response.Response.MCP.Result
}

func (c *fakeCLI) event(id string, event fields) {
	if slices.Contains(os.Args, "--include-partial-messages") {
		c.write(fields{"type": "stream_event", "api_message_id": id, "event": event})
	}
}

func (c *fakeCLI) begin(id string, parts ...string) {
	c.event(id, fields{"type": "message_start", "message": fields{}})
	c.event(id, fields{"type": "content_block_start", "index": 0, "content_block": texts("")[0]})
	for _, p := range parts {
		c.event(id, fields{"type": "content_block_delta", "index": 0, "delta": fields{"type": "text_delta", "text": p}})
	}
}

// text writes an answer as it comes in parts and as a whole.
func (c *fakeCLI) text(id string, parts ...string) {
	c.begin(id, parts...)
	c.write(fields{"type": "assistant", "message": fields{"id": id, "content": texts(strings.Join(parts, ""))}})
}

// callTool calls two tools, one that fails, and tells what came of it.
func (c *fakeCLI) callTool() {
	c.text("msg_1", "I ask.")
	for i, tool := range []string{"show", "fail"} {
		id := fmt.Sprint("toolu_", i)
		arguments := fields{"s": strings.Repeat("x", 200*i), "n": i}
		c.write(fields{"type": "assistant", "message": fields{"id": "msg_1", "content": []fields{{"type": "tool_use", "id": id, "name": "mcp__tools__" + tool, "input": arguments}}}})
		result := c.ask(fields{"id": i, "method": "tools/call", "params": fields{"name": tool, "arguments": arguments}})
		c.write(fields{"type": "user", "message": fields{"role": "user", "content": []fields{{
			"type": "tool_result", "tool_use_id": id, "content": result.Content, "is_error": result.IsError}}}})
	}
	c.write(fields{"type": "assistant", "message": fields{"id": "msg_2", "content": texts("Done, at once.")}})
	c.write(fields{"type": "assistant", "parent_tool_use_id": "toolu_9", "message": fields{"id": "msg_3", "content": texts("A sub-agent says.")}})
}

func (c *fakeCLI) end(failed bool) {
	result := fields{"type": "result", "subtype": "success", "is_error": failed, "num_turns": 2, "result": "Done.", "total_cost_usd": 0.0125,
		"modelUsage": fields{"m": fields{"inputTokens": 10, "cacheReadInputTokens": 90, "outputTokens": 20}}}
	if failed {
		result["api_error_status"], result["result"], result["terminal_reason"] = 529, "API Error: 529", "api_error"
	}
	c.write(result)
	c.write(fields{"type": "system", "subtype": "session_state_changed", "state": "idle"})
}
