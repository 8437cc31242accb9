package stdtool

import (
	"context"

	"github.com/toolpost/toolpost"
)

type bashKillInput struct {
	ID string `json:"id" jsonschema:"minLength=1,maxLength=100,description=The id that bash returned"`
}

// bashKill returns the tool bash_kill: it ends a command in the background.
func (s *Shell) bashKill() *toolpost.Tool {
	o := options("End background command", false, true, true, false)
	o.Policy.MaxOutput = -1 // all of the output is recorded already
	return newTool("bash_kill", func(ctx context.Context, in bashKillInput) (*toolpost.Result, error) {
		c, err := s.find(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		c.process.end()
		return c.report(ctx), nil
	}, o)
}
