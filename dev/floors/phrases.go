package floors

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

// A phrase is translated English, or a word without an actor, and what to write
// instead. Except matches the same words in plain English.
type phrase struct {
	found, except *regexp.Regexp
	instead       string
}

type phraseList []phrase

func newPhrases() phraseList {
	return phraseList{
		{regexp.MustCompile(`(?i)\b(tells?|told|telling)\b( the user\b)?`), regexp.MustCompile(`^[Tt]ell the user$`), "reports, returns, describes, warns, notifies or distinguishes"},
		{regexp.MustCompile(`(?i)\bsays? whether\b`), nil, "reports whether"},
		{regexp.MustCompile(`^\W*\w+ says that\b`), nil, "reports whether"},
		{regexp.MustCompile(`(?i)\b\w+ (is|are|was|were|be) no \w+`), regexp.MustCompile(`(?i)\bthere (is|are|was|were|be) no |\bno (longer|more|less|better|worse|one|others?)$`), "is not a"},
		{regexp.MustCompile(`(?i)\b(nobody|somebody)\b`), nil, "the actor: the client, the server, the caller, the user"},
		{regexp.MustCompile(`(?i)\banew\b`), nil, "again"},
		{regexp.MustCompile(`(?i)\bheed(s|ed|ing)?\b`), nil, "watches, respects or checks"},
		{regexp.MustCompile(`(?i)\ball the same\b`), nil, "nevertheless"},
		{regexp.MustCompile(`(?i)\b(for|of|to|from|with|by) whom\b`), nil, "the actor"},
		{regexp.MustCompile(`(?i)\bspeaks? of\b`), nil, "refers to, or is about"},
		{regexp.MustCompile(`(^|[.;:] )(What|Who) `), nil, "the noun: the members that …, a client that …"},
	}
}

// later are the packages whose language is still to be done.
var later = []string{"redmine", "stdtool", "claude", "dev/redminetest", "examples/claude"}

// Phrases checks the language of comments and of texts in the code.
func Phrases(files []*File) []Problem {
	var found []Problem
	all := newPhrases()
	for _, f := range files {
		if f.Package == "dev/floors" || isLater(f.Package) {
			continue
		}
		for _, group := range f.Syntax.Comments {
			for _, c := range group.List {
				found = append(found, all.check(f.Path, f.line(c.Pos()), strings.TrimPrefix(c.Text, "// "))...)
			}
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				found = append(found, all.check(f.Path, f.line(l.Pos()), l.Value)...)
			}
			return true
		})
	}
	return found
}

func isLater(pkg string) bool {
	for _, name := range later {
		if name == pkg || name != "" && within(name, pkg) {
			return true
		}
	}
	return false
}

// Prose checks the language of a document.
func Prose(path, text string) []Problem { return newPhrases().check(path, 1, text) }

func (all phraseList) check(path string, first int, text string) []Problem {
	var found []Problem
	for i, line := range strings.Split(text, "\n") {
		for _, p := range all {
			for _, m := range p.found.FindAllString(line, -1) {
				if p.except == nil || !p.except.MatchString(m) {
					found = append(found, Problem{fmt.Sprintf("%s:%d", path, first+i), fmt.Sprintf("%q: write %s", strings.TrimSpace(m), p.instead)})
				}
			}
		}
	}
	return found
}
