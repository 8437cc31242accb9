package dialect

import (
	"fmt"

	"github.com/toolpost/toolpost"
)

// bytesPerToken is how many bytes of a definition make a token, about: of
// 1,365 tools of 40 real servers, 1.67 MB of JSON were some 418,000 tokens.
const bytesPerToken = 4

// Tokens estimates the number of tokens of a tool's definition.
func Tokens(t *toolpost.Tool) int {
	raw, err := t.MarshalJSON()
	if err != nil {
		return 0
	}
	return (len(raw) + bytesPerToken - 1) / bytesPerToken
}

// measure counts the list against what the reader takes. Tools that are not listed
// do not count.
func (a *Adapted) measure(opts *Options) {
	limit := a.Dialect.form.List
	var kept []*Tool
	over := ""
	listed := 0
	for _, t := range a.Tools {
		if t.Policy.Unlisted {
			kept = append(kept, t)
			continue
		}
		tokens := Tokens(t.Tool)
		switch {
		case limit.Tools > 0 && listed >= limit.Tools:
			over = "tool-count"
		case limit.Tokens > 0 && a.Tokens+tokens > limit.Tokens:
			over = "token-count"
		}
		if opts.Fit && over != "" {
			a.withhold(t.Original.Name, over, a.Dialect.form.List.String()+" are accepted, and earlier tools use up that limit")
			continue
		}
		kept = append(kept, t)
		listed++
		a.Tokens += tokens
	}
	a.Tools = kept
}

// String returns the limits in words.
func (l listLimits) String() string {
	switch {
	case l.Tools > 0 && l.Tokens > 0:
		return fmt.Sprintf("%d tools with %d tokens in total", l.Tools, l.Tokens)
	case l.Tools > 0:
		return fmt.Sprintf("%d tools", l.Tools)
	}
	return fmt.Sprintf("%d tokens", l.Tokens)
}
