package wire

import "encoding/json"

// ForAppsOnly reports whether the _meta of a tool declares that MCP Apps may call the
// tool and models may not (SEP-1865): ui.visibility is there and lacks "model".
func ForAppsOnly(meta json.RawMessage) bool {
	visibility := Get(Get(meta, "ui"), "visibility")
	if len(visibility) == 0 || visibility[0] != '[' {
		return false
	}
	for who := range Elements(visibility) {
		if Unquote(who) == "model" {
			return false
		}
	}
	return true
}
