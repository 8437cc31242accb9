package connect

import (
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/redmine"
)

// OpenSource opens a server whose tools run in this program: the configuration knows one
// type, "redmine".
func OpenSource(s *config.Server) (toolpost.Toolset, error) {
	return redmine.New((*redmine.Options)(s.Source))
}
