package output

import (
	"context"
	_ "embed" // for the description
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/grep"
)

//go:embed tool_output_cache_grep.md
var findDescription string

type findInput struct {
	RefID      string `json:"ref_id" jsonschema:"minLength=1,maxLength=100,description=The ref_id of a shortened result"`
	Pattern    string `json:"pattern" jsonschema:"minLength=1,maxLength=10000,description=Text to look for"`
	Regex      bool   `json:"regex,omitempty" jsonschema:"description=The pattern is a regular expression (RE2)"`
	Before     int    `json:"before,omitempty" jsonschema:"minimum=0,maximum=100,description=Lines to show before each match"`
	After      int    `json:"after,omitempty" jsonschema:"minimum=0,maximum=100,description=Lines to show after each match"`
	MaxMatches int    `json:"max_matches,omitempty" jsonschema:"minimum=1,maximum=10000,default=100,description=Number of matching lines to return"`
}

func (c *Cache) findTool() *toolpost.Tool {
	return toolpost.New(findName, strings.TrimSpace(findDescription), func(ctx context.Context, in findInput) (string, error) {
		f, err := c.open(ctx, in.RefID)
		if err != nil {
			return "", err
		}
		defer f.Close()
		pattern, err := grep.Compile(in.Pattern, &grep.Options{Literal: !in.Regex})
		if err != nil {
			return "", toolpost.Retry.Errorf("%v", err)
		}
		look, cancel := context.WithTimeout(ctx, maxRun)
		defer cancel()
		r, err := pattern.File(look, f, f.Info().Size, &grep.Limits{
			Matches: in.MaxMatches, Before: in.Before, After: in.After, Line: min(500, c.room()/2), Bytes: c.room(),
		})
		switch {
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		case err != nil:
			c.opts.Logger.ErrorContext(ctx, "search stored output", "err", err)
			return "", toolpost.Failed.Errorf("the output can no longer be read: call the tool that produced it again, with narrower arguments")
		}
		return f.matches(r, c.room()), nil
	}, readOnly("Search a large tool output"))
}

// matches writes numbered lines, those of matches with a colon.
func (f *openOutput) matches(r *grep.Result, room int) string {
	var b strings.Builder
	used, shown, last := 0, int64(0), int64(0)
	cut := r.Cut
	for _, l := range r.Lines {
		row := f.row(l)
		if last > 0 && l.Number > last+1 {
			row = "--\n" + row
		}
		if used += utf8.RuneCountInString(row); used > room {
			cut = fmt.Sprintf("only the first %d of %d matching lines are shown", shown, r.Matches)
			break
		}
		b.WriteString(row)
		if last = l.Number; l.Match {
			shown++
		}
	}
	switch {
	case cut != "":
		fmt.Fprintf(&b, "\n[incomplete: %s. Narrow the pattern, or change before, after or max_matches]\n", cut)
	case shown == 0:
		fmt.Fprintf(&b, "[no match in %d lines]", f.Info().Lines)
	}
	return b.String()
}

func (f *openOutput) row(l grep.Line) string {
	sign := "-"
	if l.Match {
		sign = ":"
	}
	row := fmt.Sprintf("%5d%s %s", l.Number, sign, valid(l.Text))
	if left := l.Before + l.After; left > 0 {
		row += fmt.Sprintf(` [… %d characters are left out: read them with {"ref_id":"%s@%d","offset":%d}]`, left, f.ref, l.Number, l.Before)
	}
	return row + "\n"
}
