package chat

import (
	"strings"

	"github.com/toolpost/toolpost/internal/cleartext"
)

// complete returns what the end of a text may become: a command, or after an @ a file of
// the folder, and where it begins.
func (c *Chat) complete(before string) (start int, words []string) {
	if strings.HasPrefix(before, "/") {
		for line := range strings.Lines(commandHelp) {
			if fields := strings.Fields(line); strings.HasPrefix(fields[0], before) {
				words = append(words, fields[0])
			}
		}
	}
	start = strings.LastIndexAny(before, " \n") + 1
	beginning, named := strings.CutPrefix(before[start:], "@")
	if !named || c.opts.Files == nil {
		return 0, words
	}
	for _, name := range c.opts.Files(beginning) {
		if cleartext.Printable(name) == name { // others would change what the terminal shows
			words = append(words, "@"+name)
		}
	}
	return start, words
}
