package gateway

import (
	"encoding/json"
	"net/url"
	"strings"

	jsonx "github.com/go-json-experiment/json"
)

// icons walks over the icons of a definition and leaves out those whose address
// a client must not open.
func (c *textCleaner) icons() {
	raw := c.skip()
	var all []json.RawMessage
	if c.err != nil || json.Unmarshal(raw, &all) != nil {
		return
	}
	kept := []json.RawMessage{}
	for _, icon := range all {
		if safeIcon(icon) {
			kept = append(kept, icon)
		}
	}
	if len(kept) == len(all) {
		return
	}
	list, err := json.Marshal(kept)
	if err != nil {
		c.err = err
		return
	}
	c.replace(raw, list)
}

// safeIcon reports whether an icon is an image at an https address or one in
// itself, as MCP wants it.
func safeIcon(icon json.RawMessage) bool {
	var o struct {
		Src string `json:"src"`
	}
	if jsonx.Unmarshal(icon, &o) != nil { // it refuses a second src, and ignores SRC
		return false
	}
	u, err := url.Parse(o.Src)
	return err == nil && (u.Scheme == "https" && u.Host != "" || u.Scheme == "data" && strings.HasPrefix(strings.ToLower(u.Opaque), "image/"))
}

// safeURI reports whether a resource may have this address: one without hidden
// characters that runs no script when a person follows it.
func safeURI(uri string) bool {
	scheme, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(uri)), ":")
	return !hides(uri) && scheme != "javascript" && scheme != "vbscript"
}
