package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
)

// code is the size of a task's code.
type code struct {
	lines int // of the function and its types, without blank lines and comments
	names int // exported names of other modules, each once
}

func tasks() []string { return []string{"parallel", "structured", "crash"} }

// count reads this command's own source, which it expects in the current folder.
func count(all []*report) error {
	list, err := listPackages()
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	files := map[string]*ast.File{}
	var syntax []*ast.File
	for _, name := range list.own.GoFiles {
		f, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files[name] = f
		syntax = append(syntax, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(fset, "gc", list.open)}
	if _, err := config.Check(list.own.ImportPath, fset, syntax, info); err != nil {
		return err
	}
	for _, r := range all {
		r.code = map[string]code{}
		for _, task := range tasks() {
			name := r.library.name + "_" + task + ".go"
			if files[name] == nil {
				return fmt.Errorf("there is no file %s in the current folder", name)
			}
			lines, err := countLines(fset, files[name], name)
			if err != nil {
				return err
			}
			r.code[task] = code{lines, countNames(info, list, files[name])}
		}
	}
	return nil
}

// countLines counts the lines of the declarations that have a token.
func countLines(fset *token.FileSet, f *ast.File, name string) (int, error) {
	source, err := os.ReadFile(name)
	if err != nil {
		return 0, err
	}
	var s scanner.Scanner
	own := token.NewFileSet().AddFile(name, -1, len(source))
	s.Init(own, source, nil, 0) // without comments
	seen := map[int]bool{}
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return len(seen), nil
		}
		line := own.Line(pos)
		if text != "\n" && declared(fset, f, line) { // "\n" is a semicolon that nobody wrote
			seen[line] = true
		}
	}
}

// declared reports whether a line belongs to a declaration other than imports.
func declared(fset *token.FileSet, f *ast.File, line int) bool {
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			continue
		}
		if line >= fset.Position(d.Pos()).Line && line <= fset.Position(d.End()).Line {
			return true
		}
	}
	return false
}

// countNames counts the exported functions, types, methods, fields and values
// of other modules that a file uses.
func countNames(info *types.Info, list *packages, f *ast.File) int {
	names := map[types.Object]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		switch o := info.Uses[id].(type) {
		case nil, *types.PkgName:
		case *types.Func:
			if list.foreign(o) {
				names[o.Origin()] = true
			}
		case *types.Var:
			if list.foreign(o) {
				names[o.Origin()] = true
			}
		default:
			if list.foreign(o) {
				names[o] = true
			}
		}
		return true
	})
	return len(names)
}

type listed struct {
	ImportPath, Export string
	Standard           bool
	GoFiles            []string
}

// packages are those that this command consists of.
type packages struct {
	own  *listed
	deps map[string]*listed
}

// foreign reports whether o is an exported name of another module.
func (p *packages) foreign(o types.Object) bool {
	return o.Exported() && o.Pkg() != nil && o.Pkg().Path() != p.own.ImportPath && !p.deps[o.Pkg().Path()].Standard
}

func (p *packages) open(path string) (io.ReadCloser, error) {
	if p.deps[path] == nil {
		return nil, fmt.Errorf("package %q is not built", path)
	}
	return os.Open(p.deps[path].Export)
}

func listPackages() (*packages, error) {
	out, err := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Standard,GoFiles", ".").Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return nil, fmt.Errorf("go list: %s", exit.Stderr)
	}
	if err != nil {
		return nil, err
	}
	p := &packages{deps: map[string]*listed{}}
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		next := new(listed)
		if err := decoder.Decode(next); err != nil {
			return nil, err
		}
		p.deps[next.ImportPath] = next
		p.own = next // the last one depends on all others
	}
	if p.own == nil || !strings.HasSuffix(p.own.ImportPath, "/agentpeers") {
		return nil, errors.New("run the command in its own folder")
	}
	return p, nil
}
