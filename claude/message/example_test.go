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
	for m, err := range message.Read(stream) {
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
