package connect

import (
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/inprocess"
	"github.com/toolpost/toolpost/redmine"
	"github.com/toolpost/toolpost/upstream"
)

// Sources returns the types of servers whose tools run in this program.
func Sources() map[upstream.Transport]inprocess.Opener {
	return map[upstream.Transport]inprocess.Opener{config.Redmine: redmine.Open}
}
