package mcpserver

import (
	"net/http"
	"slices"
	"strings"
)

// allowOrigin has the browser show answers to the page that sent a request, also
// errors. The guard has allowed the page's origin. A question before a request is
// answered with what the page may send.
func allowOrigin(answer, request http.Header) {
	answer.Set("Access-Control-Allow-Origin", request.Get("Origin"))
	answer.Set("Access-Control-Expose-Headers", sessionHeader+", "+versionHeader+", WWW-Authenticate, Retry-After")
	if !slices.Contains(answer["Vary"], "Origin") {
		answer.Add("Vary", "Origin")
	}
	if request.Get("Access-Control-Request-Method") == "" {
		return
	}
	answer.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	answer.Set("Access-Control-Max-Age", "7200")
	var allowed []string
	for name := range strings.SplitSeq(strings.Join(request["Access-Control-Request-Headers"], ","), ",") {
		if name = strings.ToLower(strings.TrimSpace(name)); pageMaySend(name) {
			allowed = append(allowed, name)
		}
	}
	if allowed != nil {
		answer.Set("Access-Control-Allow-Headers", strings.Join(allowed, ", "))
	}
}

// pageMaySend reports whether a page may send a header, in lower case. Nothing in the
// standard allows all that begin alike, so that those that are asked for are named.
func pageMaySend(name string) bool {
	switch name {
	case "accept", "authorization", "content-type", "last-event-id":
		return true
	}
	rest, ok := strings.CutPrefix(name, "mcp-")
	return ok && !strings.ContainsFunc(rest, func(r rune) bool {
		return !('a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' || r == '_')
	})
}
