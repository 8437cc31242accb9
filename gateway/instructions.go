package gateway

import (
	"strings"
	"unicode/utf8"

	"github.com/toolpost/toolpost/internal/cleartext"
)

// How many bytes of instructions clients get, of one server and of all. They
// are in the context of every conversation.
const (
	maxInstructions    = 8 << 10
	maxAllInstructions = 32 << 10
)

const cutMark = "\n[the rest is left out: it is too long]"

// joinInstructions joins what the servers say about themselves, each under its
// name. A server that is alone speaks for the gateway.
func (j *joined) joinInstructions(members []*member) {
	enabled := 0
	for _, m := range members {
		if !m.server.Disabled {
			enabled++
		}
	}
	var all []string
	left := maxAllInstructions
	for _, m := range members {
		sent := m.features().Instructions
		text := cleartext.Clean(sent)
		if text != sent {
			j.note("", "server %s: hidden characters are removed from its instructions", m.server.Name)
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		limit := min(left, maxInstructions)
		if enabled == 1 {
			limit = maxAllInstructions
		} else {
			text = demote(strings.TrimSpace(text))
		}
		if len(text) > limit {
			text = cut(text, limit) + cutMark
			j.note("", "server %s: its instructions are cut to %d bytes", m.server.Name, limit)
		}
		if enabled == 1 {
			j.features.Instructions = text
			return
		}
		left -= min(len(text), left)
		all = append(all, "# "+m.server.Name+"\n\n"+text)
	}
	j.features.Instructions = strings.Join(all, "\n\n")
}

// demote makes the headings of a server lower than those of the gateway, so that
// no server can speak under the name of another.
func demote(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if indent := len(line) - len(strings.TrimLeft(line, " \t\r")); strings.HasPrefix(line[indent:], "#") {
			lines[i] = line[:indent] + "#" + line[indent:]
		} else if strings.Trim(line, " \t\r=") == "" { // underlines a heading of the first level
			lines[i] = strings.ReplaceAll(line, "=", "-")
		}
	}
	return strings.Join(lines, "\n")
}

// cut returns at most limit bytes of the text, in whole characters.
func cut(text string, limit int) string {
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
