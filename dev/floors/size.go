package floors

import (
	"go/ast"
	"go/token"
	"strings"
)

// Limits of what a reader can keep in mind.
const (
	maxFileLines  = 400
	maxFuncLines  = 60
	maxComplexity = 12
)

// Size checks files and functions. Structs, interfaces and the methods of types have no
// limit: one of twelve fields made people hide fields in embedded types.
func Size(files []*File) []Problem {
	var found []Problem
	for _, f := range files {
		if n := strings.Count(f.Source, "\n"); n > maxFileLines {
			found = append(found, f.problem(f.Syntax.FileStart, "the file has %d lines, at most %d", n, maxFileLines))
		}
		for _, fn := range functions(f) {
			found = append(found, function(f, fn)...)
		}
	}
	return found
}

// functions returns the declared functions, and function literals outside of them.
func functions(f *File) []ast.Node {
	var all []ast.Node
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			all = append(all, n)
			return false
		}
		return true
	})
	return all
}

func function(f *File, fn ast.Node) []Problem {
	var found []Problem
	name := "function literal"
	if d, ok := fn.(*ast.FuncDecl); ok {
		name = d.Name.Name
	}
	if n := f.line(fn.End()) - f.line(fn.Pos()) + 1; n > maxFuncLines {
		found = append(found, f.problem(fn.Pos(), "%s has %d lines, at most %d", name, n, maxFuncLines))
	}
	if n := complexity(fn); n > maxComplexity {
		found = append(found, f.problem(fn.Pos(), "%s has cyclomatic complexity %d, at most %d", name, n, maxComplexity))
	}
	return found
}

// complexity is 1 and one more for every branch; literals inside count. A
// switch whose arms are single statements reads like a table: it is one branch.
func complexity(fn ast.Node) int {
	n := 1
	rows := map[ast.Node]bool{} // the arms of such switches
	ast.Inspect(fn, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.SwitchStmt:
			n += table(node.Body, rows)
		case *ast.TypeSwitchStmt:
			n += table(node.Body, rows)
		case *ast.CaseClause:
			if node.List != nil && !rows[node] {
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

// table returns 1 and adds the arms to rows if each arm of a switch is at most
// one statement that does not branch itself; otherwise it returns 0.
func table(body *ast.BlockStmt, rows map[ast.Node]bool) int {
	for _, arm := range body.List {
		statements := arm.(*ast.CaseClause).Body
		if len(statements) > 1 || len(statements) == 1 && branches(statements[0]) {
			return 0
		}
	}
	for _, arm := range body.List {
		rows[arm] = true
	}
	return 1
}

// branches reports whether a statement is one with a body of its own.
func branches(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt, *ast.BlockStmt:
		return true
	}
	return false
}
