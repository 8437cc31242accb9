package mcpserver

import (
	"errors"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/internal/wire"
)

// withArguments returns a request of the tool that asks.
func withArguments(c *core, arguments, state string) *request {
	r := parkRequest(c, "ask", state, `{"input":{"action":"accept"}}`)
	r.Arguments = []byte(arguments)
	return r
}

// What the user has answered to one call is no answer to a call with other arguments.
func TestParkedArguments(t *testing.T) {
	for name, tt := range map[string]struct {
		first, second string
		same          bool
	}{
		"the same":        {`{"path":"/tmp"}`, `{"path":"/tmp"}`, true},
		"written again":   {`{"a":1,"path":"/tmp"}`, `{ "path": "\u002ftmp", "a": 1 }`, true},
		"none and empty":  {``, `{}`, true},
		"another value":   {`{"path":"/tmp"}`, `{"path":"/etc"}`, false},
		"one more":        {`{"path":"/tmp"}`, `{"path":"/tmp","force":true}`, false},
		"none":            {`{"path":"/tmp"}`, ``, false},
		"a duplicate":     {`{"path":"/tmp"}`, `{"path":"/tmp","path":"/etc"}`, false},
		"another name":    {`{"path":"/tmp"}`, `{"Path":"/tmp"}`, false},
		"another integer": {`{"n":9007199254740993}`, `{"n":9007199254740992}`, false},
	} {
		c, ended := lotCore(t)
		first, err := serveRaw(t, c, withArguments(c, tt.first, ""))
		if err != nil {
			t.Fatal(name, err)
		}
		state := wire.Unquote(wire.Get(first, "requestState"))
		got, err := serveRaw(t, c, withArguments(c, tt.second, state))
		fault, _ := errors.AsType[*wire.Error](err)
		if tt.same != (err == nil) || !tt.same && (fault == nil || !strings.Contains(fault.Message, "send the same arguments with the answer")) {
			t.Errorf("%s: got %s %v", name, got, err)
		}
		if tt.same {
			<-ended
			continue
		}
		if len(ended) > 0 {
			t.Errorf("%s: the call went on", name)
		}
		if _, err := serveRaw(t, c, withArguments(c, tt.first, state)); err != nil || <-ended != nil {
			t.Errorf("%s: the call that asked is lost: %v", name, err)
		}
	}
}
