package floors

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"slices"
	"strings"
)

// Limits of the agent loop without the models of providers: a user who chooses
// it over a framework can read all of it, and it stays so.
const (
	maxLoopTypes = 25
	maxLoopLines = 2_800 // sessions that take turns back and drop images came later
)

// Loop checks the size of the packages of the agent loop together: exported types,
// and lines with code, without imports, as docs/agent.md counts them.
func Loop(files []*File) []Problem {
	types, lines := 0, 0
	for _, f := range files {
		if slices.Contains([]string{"agent", "model", "usage"}, f.Package) {
			types += f.exportedTypes()
			lines += f.codeLines()
		}
	}
	var found []Problem
	if types > maxLoopTypes {
		found = append(found, Problem{"agent, model, usage", fmt.Sprintf("they have %d exported types, at most %d", types, maxLoopTypes)})
	}
	if lines > maxLoopLines {
		found = append(found, Problem{"agent, model, usage", fmt.Sprintf("they have %d lines of code, at most %d", lines, maxLoopLines)})
	}
	return found
}

func (f *File) exportedTypes() int {
	n := 0
	for _, d := range f.Syntax.Decls {
		if d, ok := d.(*ast.GenDecl); ok {
			for _, s := range d.Specs {
				if t, ok := s.(*ast.TypeSpec); ok && t.Name.IsExported() {
					n++
				}
			}
		}
	}
	return n
}

// codeLines counts the lines of the file that have code, without its imports.
func (f *File) codeLines() int {
	var imports []ast.Node
	for _, d := range f.Syntax.Decls {
		if d, ok := d.(*ast.GenDecl); ok && d.Tok == token.IMPORT {
			imports = append(imports, d)
		}
	}
	file := token.NewFileSet().AddFile(f.Path, -1, len(f.Source))
	var s scanner.Scanner
	s.Init(file, []byte(f.Source), nil, 0) // without comments
	lines := map[int]bool{}
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return len(lines)
		}
		line := file.Line(pos)
		if slices.ContainsFunc(imports, func(n ast.Node) bool { return f.line(n.Pos()) <= line && line <= f.line(n.End()) }) || literal == "\n" {
			continue
		}
		for i := range strings.Count(literal, "\n") + 1 { // a text may have several
			lines[line+i] = true
		}
	}
}
