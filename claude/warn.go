package claude

import (
	"strings"

	"github.com/toolpost/toolpost/claude/message"
)

// warnShadowed logs why Permission will not be asked about some tools, which
// surprises whoever wrote it as a guard.
func (o *Options) warnShadowed() {
	if o.Permission == nil {
		return
	}
	if o.PermissionMode == ModeBypass || o.PermissionMode == ModeDontAsk {
		o.logger().Warn("Permission is never asked in this PermissionMode; use Hooks to check every call", "mode", string(o.PermissionMode))
	}
	var whole []string // a rule with a parenthesis allows only some calls
	for _, rule := range o.AllowedTools {
		if !strings.Contains(rule, "(") {
			whole = append(whole, rule)
		}
	}
	if len(whole) > 0 {
		o.logger().Warn("Permission is never asked about tools in AllowedTools; remove those it should decide on", "tools", whole)
	}
}

// warnUnavailable logs MCP servers whose tools the model does not get, each once.
func (t *tools) warnUnavailable(init *message.Init) {
	for _, s := range init.MCPServers {
		if s.Status != "failed" && s.Status != "needs-auth" {
			continue
		}
		if len(t.unavailable) >= maxWarnings || t.unavailable[s.Name] {
			continue
		}
		t.unavailable[s.Name] = true
		t.log.Warn("the claude CLI cannot use an MCP server; check its command, address or login", "server", s.Name, "status", s.Status)
	}
}

const maxWarnings = 100 // about servers, in one session
