package mcpserver

import (
	"context"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// noticeTime limits how long one notification waits for a slow client.
const noticeTime = writeTime

// A notice is a notification on its way to one session: that a list changed, or
// a resource. Those that follow while it is sent become one.
type notice struct {
	again func(context.Context) // nil if none followed
}

// isNotice reports whether a notification goes to many sessions. None of them
// waits until another one has read it.
func isNotice(method string) bool {
	return strings.HasSuffix(method, "/list_changed") || method == "notifications/resources/updated"
}

func noticeKey(method string, req mcp.Request) string {
	if p, ok := req.GetParams().(*mcp.ResourceUpdatedNotificationParams); ok && p != nil {
		return method + " " + p.URI
	}
	return method
}

// notify runs send on a goroutine of the session, unless one for the same key
// is waiting already.
func (s *session) notify(key string, send func(context.Context)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.notices[key]; n != nil {
		n.again = send
		return
	}
	n := &notice{}
	s.notices[key] = n
	go func() {
		for send != nil {
			ctx, cancel := context.WithTimeout(s.ctx, noticeTime)
			send(ctx)
			cancel()
			s.mu.Lock()
			if send, n.again = n.again, nil; send == nil {
				delete(s.notices, key)
			}
			s.mu.Unlock()
		}
	}()
}
