package claudecli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
)

// A conversation is a request in the form in which sessions are found and
// started.
type conversation struct {
	request *model.Request
	tools   *toolset
	setup   digest   // of what a session is started with
	said    []digest // of the messages
}

// A digest identifies a content.
type digest [sha256.Size]byte

func (m *Model) newConversation(ctx context.Context, r *model.Request) (*conversation, error) {
	ts, err := m.toolset(ctx, r.Tools)
	if err != nil {
		return nil, err
	}
	c := &conversation{request: r, tools: ts}
	h := sha256.New()
	fmt.Fprintf(h, "%q %d %q %x", r.System, r.MaxTokens, r.Effort, ts.digest)
	if r.Output != nil {
		fmt.Fprintf(h, " %q", r.Output.Raw())
	}
	c.setup = digest(h.Sum(nil))
	for _, m := range r.Messages {
		c.said = append(c.said, digestOf(m))
	}
	return c, nil
}

// digestOf returns the digest of a message, without the origin and the raw form
// of its parts.
func digestOf(m *model.Message) digest {
	h := sha256.New()
	fmt.Fprintf(h, "%q", m.Role)
	for _, p := range m.Parts {
		fmt.Fprintf(h, "\n%q %q %x %q %q %q ", p.Type, p.Text, sha256.Sum256(p.Data), p.MIMEType, p.ID, p.Name)
		writeJSON(h, p.Arguments)
		if p.Result != nil {
			writeResult(h, p.Result)
		}
		if p.Type == model.TypeOpaque {
			writeJSON(h, p.Raw)
		}
	}
	return digest(h.Sum(nil))
}

// writeJSON writes a value that may have been encoded again in between.
func writeJSON(w io.Writer, raw json.RawMessage) {
	var value any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if len(raw) == 0 || d.Decode(&value) != nil {
		fmt.Fprintf(w, "%q", raw)
		return
	}
	_ = json.NewEncoder(w).Encode(value) // what was decoded can be encoded, and a hash takes it
}

func writeResult(w io.Writer, m *toolpost.ToolMessage) {
	fmt.Fprintf(w, "%q %v %q %v", m.CallID, m.IsError, m.Text, m.Parts == nil)
	for _, p := range m.Parts {
		fmt.Fprintf(w, "\n%q %q %x %q %q %q", p.Type, p.Text, sha256.Sum256(p.Data), p.MIMEType, p.URI, p.Name)
	}
}

// continues reports whether the conversation is that of a session, with new
// messages of the user.
func (c *conversation) continues(s *session) bool {
	if c.setup != s.setup || len(c.said) <= len(s.said) {
		return false
	}
	for i, d := range s.said {
		if c.said[i] != d {
			return false
		}
	}
	for _, m := range c.request.Messages[len(s.said):] {
		if m.Role != model.RoleUser {
			return false
		}
	}
	return true
}

// answers reports whether the last message contains the result of a call.
func (c *conversation) answers(calls []string) bool {
	for _, p := range c.request.Messages[len(c.said)-1].Parts {
		for _, id := range calls {
			if p.Type == model.TypeResult && p.Result.CallID == id {
				return true
			}
		}
	}
	return false
}
