package gateway

import (
	"bytes"

	"github.com/toolpost/toolpost"
)

// joinIntroductions passes on how a server that is alone describes itself,
// without hidden characters and unsafe icons.
func (j *joined) joinIntroductions(members []*member) {
	var only *member
	for _, m := range members {
		switch {
		case m.server.Disabled:
			continue
		case only != nil:
			return
		}
		only = m
	}
	if only == nil || only.features().Self == nil {
		return
	}
	self := *only.features().Self
	self.Info = visibleText(self.Info, "name", "version", "websiteUrl")
	if !bytes.Equal(self.Info, only.features().Self.Info) {
		j.note("", "server %s: hidden characters or unsafe icons are removed from its description of itself", only.server.Name)
	}
	j.features.Self = &toolpost.Introduction{Info: self.Info, Capabilities: self.Capabilities}
}
