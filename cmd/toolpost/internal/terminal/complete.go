package terminal

import (
	"fmt"
	"strings"
)

// maxWords is how many words are listed that a text may end with.
const maxWords = 40

// complete implements the callback of the editor for each key: Tab completes the word
// before the cursor, or lists the words that it may become.
func (t *typing) complete(line string, cursor int, key rune) (string, int, bool) {
	if key != '\t' {
		return "", 0, false
	}
	before, after := line[:cursor], line[cursor:]
	start, words := t.lines.Complete(before)
	if len(words) == 0 {
		return line, cursor, true
	}
	word := commonStart(words)
	if len(words) == 1 && !strings.HasSuffix(word, "/") && !strings.HasPrefix(after, " ") {
		word += " "
	}
	if word == before[start:] {
		t.list(words)
	}
	before = before[:start] + word
	return before + after, len(before), true
}

// list writes words above the line.
func (t *typing) list(words []string) {
	more := ""
	if n := len(words) - maxWords; n > 0 {
		words, more = words[:maxWords], fmt.Sprintf(" and %d more", n)
	}
	width, _ := Size(t.lines.out)
	lines := Wrap(strings.Join(words, " ")+more, max(width, 20))
	_, _ = t.editor.Write([]byte(strings.Join(lines, "\n") + "\n")) // an error is that of the next key
}

// commonStart returns what all words begin with. It does not end within a character.
func commonStart(words []string) string {
	start := words[0]
	for _, w := range words[1:] {
		n := 0
		for i, r := range start {
			if !strings.HasPrefix(w[min(i, len(w)):], string(r)) {
				break
			}
			n = i + len(string(r))
		}
		start = start[:n]
	}
	return start
}
