// Package floors holds the module's architecture and house rules, as gates
// over its source. The gates read files themselves, without the go command,
// so that the test cache knows what they depend on.
package floors

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A Gate is one rule that all code of the module keeps.
type Gate struct {
	Name  string
	Check func([]*File) []Problem
}

// Gates returns all gates.
func Gates() []Gate {
	return []Gate{
		{"floor order", Order},
		{"in-process sources", Links},
		{"outside modules", Modules},
		{"size", Size},
		{"ground", Ground},
		{"documentation", Documentation},
		{"words", Words},
	}
}

// A Problem is one place that does not keep a rule.
type Problem struct {
	Where string // FILE:LINE, or a package
	What  string
}

// String returns both, like a compiler's message.
func (p Problem) String() string { return p.Where + ": " + p.What }

// A File is one Go file, parsed.
type File struct {
	Path    string // in the module, with slashes
	Package string // the folder in the module, "" for its root
	Source  string
	Syntax  *ast.File
	Files   *token.FileSet
}

// Parse parses one file. The files given to a gate belong to one set.
func Parse(files *token.FileSet, path, source string) (*File, error) {
	syntax, err := parser.ParseFile(files, path, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", path, err)
	}
	dir, _ := filepath.Split(path)
	return &File{path, strings.TrimSuffix(dir, "/"), source, syntax, files}, nil
}

// Load parses the code of the module in the folder root. Tests, testdata and
// modules of their own in folders below are not code of the module.
func Load(root string) ([]*File, error) {
	var all []*File
	files := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (skipped(d.Name()) || isModule(path)):
			return fs.SkipDir
		case d.IsDir(), filepath.Ext(path) != ".go", strings.HasSuffix(path, "_test.go"):
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		f, err := Parse(files, filepath.ToSlash(rel), string(source))
		all = append(all, f)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load module: %w", err)
	}
	return all, nil
}

func isModule(folder string) bool {
	_, err := os.Stat(filepath.Join(folder, "go.mod"))
	return err == nil
}

func skipped(folder string) bool {
	return folder == "testdata" || folder == "node_modules" || folder[0] == '.' || folder[0] == '_'
}

func (f *File) problem(at token.Pos, format string, args ...any) Problem {
	place := f.Files.Position(at)
	return Problem{fmt.Sprintf("%s:%d", place.Filename, place.Line), fmt.Sprintf(format, args...)}
}

func (f *File) line(at token.Pos) int { return f.Files.Position(at).Line }

// packages groups files by their folder.
func packages(files []*File) map[string][]*File {
	m := map[string][]*File{}
	for _, f := range files {
		m[f.Package] = append(m[f.Package], f)
	}
	return m
}
