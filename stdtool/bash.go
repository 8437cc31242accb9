package stdtool

import (
	"context"
	"fmt"
	"time"

	"github.com/toolpost/toolpost"
)

const defaultRun = 120_000 // milliseconds

type bashInput struct {
	Command    string `json:"command" jsonschema:"minLength=1,maxLength=100000,description=Command line for bash"`
	TimeoutMS  int    `json:"timeout_ms,omitempty" jsonschema:"minimum=1,maximum=600000,description=Longest run in milliseconds; 120000 if left out but none in the background"`
	Background bool   `json:"background,omitempty" jsonschema:"description=Return at once with an id for bash_output and bash_kill"`
}

// bash returns the tool bash: it runs a command line.
func (s *Shell) bash() *toolpost.Tool {
	return newTool("bash", func(ctx context.Context, in bashInput) (*toolpost.Result, error) {
		if in.TimeoutMS == 0 && !in.Background {
			in.TimeoutMS = defaultRun
		}
		c, err := s.start(ctx, in.Command, in.Background, time.Duration(in.TimeoutMS)*time.Millisecond)
		if err != nil {
			return nil, err
		}
		if in.Background {
			return toolpost.TextResult(fmt.Sprintf("[running in the background, id %q: read its output with bash_output, end it with bash_kill]\n", c.id)), nil
		}
		select {
		case <-c.process.gone:
		case <-ctx.Done():
			c.process.end()
			return nil, context.Cause(ctx)
		}
		text, ref := c.record.Text(context.WithoutCancel(ctx))
		return commandResult(text, c.ending(), ref), nil
	}, options("Run command", false, true, false, true))
}
