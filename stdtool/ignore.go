package stdtool

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// maxIgnore is how much of a .gitignore is looked at.
const maxIgnore = 1 << 20

// ignores are the rules for a folder: those of its own .gitignore come before
// those of the folders around it.
type ignores struct {
	outer *ignores
	dir   string
	rules []ignoreRule // the last that matches counts
}

// An ignoreRule is a line of a .gitignore.
type ignoreRule struct {
	negated bool   // what matches is not ignored
	folders bool   // only folders match
	whole   bool   // the path from the folder on matches, not only the last name
	prefix  string // what matches begins with
	rest    wildcard
}

// parseIgnores reads the rules of a .gitignore as git does.
func parseIgnores(data []byte) []ignoreRule {
	var rules []ignoreRule
	data = bytes.TrimPrefix(data, bom)
	for line := range bytes.Lines(data) {
		s := string(bytes.TrimSuffix(line, []byte("\n")))
		if s = strings.TrimSuffix(s, "\r"); s != "" && s[0] != '#' {
			rules = append(rules, parseIgnore(trimSpaces(s)))
		}
	}
	return rules
}

// trimSpaces removes spaces at the end that no backslash is before.
func trimSpaces(s string) string {
	end := 0
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			if i++; i == len(s) {
				return s
			}
		} else if s[i] == ' ' {
			continue
		}
		end = i + 1
	}
	return s[:end]
}

func parseIgnore(s string) (r ignoreRule) {
	s, r.negated = strings.CutPrefix(s, "!")
	s, r.folders = strings.CutSuffix(s, "/")
	r.whole = strings.Contains(s, "/")
	s = strings.TrimPrefix(s, "/")
	n := len(s)
	if i := strings.IndexAny(s, `*?[\`); i >= 0 {
		n = i
	}
	r.prefix = s[:n]
	r.rest, _ = newWildcard(s[n:], true) // what is malformed matches nothing
	return r
}

// match reports whether the rule is about name, a path from its folder on.
func (r *ignoreRule) match(name string, folder bool) bool {
	if r.folders && !folder {
		return false
	}
	if !r.whole {
		name = path.Base(name)
	}
	name, ok := strings.CutPrefix(name, r.prefix)
	if !ok {
		return false
	}
	full, _ := r.rest.match(name, false)
	return full
}

// isIgnored reports whether name, a path from the root on, is ignored, if the
// folder that it is in is not.
func (g *ignores) isIgnored(name string, folder bool) bool {
	for ; g != nil; g = g.outer {
		rel := relativeTo(g.dir, name)
		for i := len(g.rules) - 1; i >= 0; i-- {
			if r := &g.rules[i]; r.match(rel, folder) {
				return !r.negated
			}
		}
	}
	return false
}

// hasIgnores reports whether an entry can hold rules: a .gitignore, or the .git of a
// repository. Where file names ignore case, git reads a .gitignore in any case.
func hasIgnores(d fs.DirEntry) bool {
	return strings.EqualFold(d.Name(), ".gitignore") || d.Name() == ".git" && d.IsDir()
}

// inside returns the rules for a folder.
func (g *ignores) inside(root *os.Root, dir string) *ignores {
	data := append(readIgnores(root, join(dir, ".git/info/exclude")), '\n') // of the repository that dir is
	rules := parseIgnores(append(data, readIgnores(root, join(dir, ".gitignore"))...))
	if len(rules) == 0 {
		return g
	}
	return &ignores{g, dir, rules}
}

func readIgnores(root *os.Root, name string) []byte {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := openFile(root, name)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxIgnore))
	if err != nil {
		return nil
	}
	return bytes.TrimPrefix(data, bom)
}
