package stdtool

import (
	"context"
	"regexp"
	"time"

	"github.com/toolpost/toolpost"
)

type bashOutputInput struct {
	ID     string `json:"id" jsonschema:"minLength=1,maxLength=100,description=The id that bash returned"`
	WaitMS int    `json:"wait_ms,omitempty" jsonschema:"minimum=0,maximum=600000,description=Wait for the end that long; in milliseconds; 30000 if left out and until is given"`
	Until  string `json:"until,omitempty" jsonschema:"maxLength=1000,description=Wait only until the output matches this regular expression; RE2 syntax"`
}

// bashOutput returns the tool bash_output: what a command in the background
// wrote since it was asked for last.
func (s *Shell) bashOutput() *toolpost.Tool {
	o := options("Output of background command", true, false, false, false)
	o.Policy.MaxOutput = -1
	return newTool("bash_output", func(ctx context.Context, in bashOutputInput) (*toolpost.Result, error) {
		c, err := s.find(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		var pattern *regexp.Regexp
		if in.Until != "" {
			if pattern, err = regexp.Compile("(?m)" + in.Until); err != nil {
				return nil, toolpost.Retry.Errorf("until is not a valid regular expression: %v. Use RE2 syntax", err)
			}
		}
		if in.Until != "" && in.WaitMS == 0 {
			in.WaitMS = 30_000
		}
		if err := c.wait(ctx, pattern, time.Duration(in.WaitMS)*time.Millisecond); err != nil {
			return nil, err
		}
		return c.report(ctx), nil
	}, o)
}
