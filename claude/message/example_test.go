package message_test

import (
	"fmt"
	"strings"

	"github.com/toolpost/toolpost/claude/message"
)

// The stream of "claude --output-format stream-json", read again from a file.
func ExampleRead() {
	stream := strings.NewReader(`
{"type":"assistant","message":{"content":[{"type":"text","text":"It is 5."}]},"session_id":"s"}
{"type":"result","subtype":"success","is_error":false,"result":"It is 5.","total_cost_usd":0.5,"session_id":"s"}
`)
	for m, err := range new(message.Parser).Read(stream) {
		if err != nil {
			panic(err)
		}
		switch m := m.(type) {
		case *message.Assistant:
			fmt.Println(m.Text())
		case *message.Result:
			fmt.Println(m.Subtype, m.IsError)
		}
	}
	// Output:
	// It is 5.
	// success false
}

// The content blocks of a message, by their types.
func ExampleParser() {
	m, err := new(message.Parser).Parse([]byte(`{"type":"user","session_id":"s","message":{"role":"user","content":[
		{"type":"text","text":"What is this?"},
		{"type":"image","source":{"type":"base64","media_type":"image/png","data":"cG5n"}},
		{"type":"document","title":"Manual","source":{"type":"url","url":"https://example.org/manual.pdf"}},
		{"type":"tool_reference","tool_name":"scan"},
		{"type":"redacted_thinking","data":"x"},
		{"type":"web_search_tool_result","tool_use_id":"t","content":[]}]}}`))
	if err != nil {
		panic(err)
	}
	for _, b := range m.(*message.User).Content {
		switch b := b.(type) {
		case *message.Text:
			fmt.Println(b.Text)
		case *message.Image:
			fmt.Println("an image:", b.From.MediaType)
		case *message.Document:
			fmt.Println("a document:", b.Title, b.From.URL)
		case *message.ToolReference:
			fmt.Println("a tool:", b.ToolName)
		case *message.RedactedThinking, *message.WebToolResult:
			fmt.Println("a block of the type", b.Kind())
		}
	}
	// Output:
	// What is this?
	// an image: image/png
	// a document: Manual https://example.org/manual.pdf
	// a tool: scan
	// a block of the type redacted_thinking
	// a block of the type web_search_tool_result
}

// Usage that a program has stored; what is malformed counts as 0.
func ExampleParseUsage() {
	u, warnings := message.ParseUsage([]byte(`{"input_tokens":12,"output_tokens":"many"}`))
	fmt.Println(u.InputTokens, u.OutputTokens, len(warnings))
	// Output: 12 0 1
}
