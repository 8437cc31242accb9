package status_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost/internal/access/status"
)

// A program asks an endpoint for its state and reports the calls that failed.
func ExampleStatus() {
	answer := strings.NewReader(`{"servers": [{"name": "files", "state": "ready", "tools": 14}], "calls": [
		{"seq": 1, "server": "files", "method": "tools/call", "name": "read", "outcome": "ok"},
		{"seq": 2, "server": "files", "method": "tools/call", "name": "write", "outcome": "tool_error", "error": "no space left"}
	]}`)
	s := &status.Status{}
	if err := json.NewDecoder(answer).Decode(s); err != nil {
		fmt.Println(err)
		return
	}
	for _, call := range s.Calls {
		if call.Failed() {
			fmt.Printf("%s of %s: %s\n", call.Name, call.Server, call.Error)
		}
	}
	// Output: write of files: no space left
}
