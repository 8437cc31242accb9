package config

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/internal/secret"
)

// variables are the values of ${…}.
type variables struct {
	env    func(string) (string, bool)
	folder string          // ${workspaceFolder}
	note   func(Reference) // called with each reference, unless nil

	secrets []string // the values that were probably secret
}

func newVariables(file string, env func(string) (string, bool)) *variables {
	folder, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		folder = filepath.Dir(file)
	}
	if slices.Contains([]string{".vscode", ".cursor", ".gemini"}, filepath.Base(folder)) {
		folder = filepath.Dir(folder)
	}
	return &variables{env: env, folder: folder}
}

var (
	variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	notInName    = lazyregexp.New(`[^A-Za-z0-9]+`)
)

// inputVariable is the variable that stands for an input of VS Code.
func inputVariable(id string) string {
	return strings.ToUpper(notInName.ReplaceAllString(id, "_"))
}

// expand replaces the variables of s. Unknown ones go to unset.
func (e *entry) expand(s string, v hujson.Value, path string) string {
	if e.vars == nil {
		return s
	}
	if refers(s) {
		e.fail(v.StartOffset, "%s contains a NUL character", path)
		return ""
	}
	return e.vars.expand(s, 0, func(why string) {
		if len(e.unset) == maxProblems {
			return
		}
		e.unset = append(e.unset, e.problem(v.StartOffset, "%s: %s", path, why))
	})
}

// An unsetError names the variables of one server that could not be expanded.
type unsetError struct {
	file     string
	problems []Problem
}

func (e *unsetError) Error() string {
	lines := make([]string, len(e.problems))
	for i, p := range e.problems {
		path, why, _ := strings.Cut(p.Message, ": ")
		lines[i] = fmt.Sprintf("%s (%s:%d:%d): %s", path, e.file, p.Line, p.Column, why)
	}
	return strings.Join(lines, "; ")
}

// Expand replaces the variables of a text, such as ${NAME} and ${NAME:-default},
// as in a file of the current folder; env looks them up. $${ stands for ${. The error names a
// variable that is not set.
func Expand(text string, env func(string) (string, bool)) (expanded string, err error) {
	expanded = newVariables(".", env).expand(text, 0, func(why string) { err = cmp.Or(err, errors.New(why)) })
	return expanded, err
}

const maxNested = 8 // defaults that hold variables

func (v *variables) expand(s string, depth int, fail func(why string)) string {
	var b strings.Builder
	for depth < maxNested {
		before, rest, found := strings.Cut(s, "${")
		end := closing(rest)
		if !found || end < 0 && !strings.HasSuffix(before, "$") {
			break
		}
		if literal, escaped := strings.CutSuffix(before, "$"); escaped {
			b.WriteString(literal + "${")
			s = rest
			continue
		}
		b.WriteString(before)
		b.WriteString(v.value(rest[:end], depth, fail))
		s = rest[end+1:]
	}
	b.WriteString(s)
	return b.String()
}

// closing returns the index of the } that ends a variable, or -1.
func closing(s string) int {
	for i, depth := 0, 0; i < len(s); i++ {
		switch {
		case strings.HasPrefix(s[i:], "${"):
			depth++
		case s[i] == '}' && depth == 0:
			return i
		case s[i] == '}':
			depth--
		}
	}
	return -1
}

// value expands what stands between the braces.
func (v *variables) value(inner string, depth int, fail func(why string)) string {
	if marked, ok := v.refer(inner, depth, fail); ok {
		return marked
	}
	name, fallback, hasFallback := strings.Cut(inner, ":-")
	if place, ok := v.place(name); ok {
		return place
	}
	kind, rest, special := strings.Cut(name, ":")
	switch {
	case special && kind == "env": // Cursor, Windsurf, VS Code
		name = rest
	case special && kind == "input":
		name = inputVariable(rest)
	case special && slices.Contains([]string{"command", "config"}, kind):
		fail(fmt.Sprintf("${%s:…} is not supported; use an environment variable, ${NAME}, or ${file:…}, ${keyring:…} or ${cmd:…}", kind))
		return ""
	}
	if !variableName.MatchString(name) {
		return "${" + inner + "}" // not ours
	}
	value, ok := v.env(name)
	switch {
	case hasFallback && value == "":
		return v.expand(fallback, depth+1, fail)
	case !ok:
		fail(fmt.Sprintf("the environment variable %s is not set; set it, or write ${%s:-default}", name, name))
	case secret.Is(name, value):
		v.secrets = append(v.secrets, value)
	}
	return value
}

// place returns what the variables of editors stand for.
func (v *variables) place(name string) (value string, ok bool) {
	switch name {
	case "workspaceFolder":
		return v.folder, true
	case "workspaceFolderBasename":
		return filepath.Base(v.folder), true
	case "pathSeparator", "/":
		return string(filepath.Separator), true
	case "userHome":
		if value, ok = v.env("HOME"); !ok {
			value, ok = v.env("USERPROFILE")
		}
		return value, ok
	}
	return "", false
}
