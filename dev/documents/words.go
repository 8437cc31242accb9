package documents

import (
	"regexp"
	"strings"
)

// piece is what a shell line consists of: blanks, a comment, the end of a command, the sign
// of a redirection, or a word, of which parts may be quoted.
var piece = regexp.MustCompile(`[ \t\n]+|#.*|[|;&]+|[<>]+|(?:\\.|'[^']*'|"(?:\\.|[^"\\])*"|[^ \t\n|;&<>'"\\]|['"\\])+`)

// quoted is a part of a word that stands for something else.
var quoted = regexp.MustCompile(`\\(.)|'([^']*)'|"((?:\\.|[^"\\])*)"`)

// Words splits a line as a shell does, into the words of each of its commands: at blanks,
// pipes and redirections that are not quoted, up to a comment.
func Words(line string) [][]string {
	all := [][]string{nil}
	file := false // the next word is the file of a redirection
	for _, t := range piece.FindAllString(line, -1) {
		last := len(all) - 1
		switch {
		case strings.ContainsAny(t[:1], " \t\n#"):
		case strings.ContainsAny(t[:1], "|;&"):
			all = append(all, nil)
		case strings.ContainsAny(t[:1], "<>"):
			file = true
		case file:
			file = false
		default:
			all[last] = append(all[last], quoted.ReplaceAllString(t, "$1$2$3"))
		}
	}
	commands := all[:0]
	for _, words := range all {
		if len(words) > 0 {
			commands = append(commands, words)
		}
	}
	return commands
}
