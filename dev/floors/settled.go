package floors

import (
	"go/ast"
	"go/types"
	"slices"
)

// makers return what never changes, or what the rules of aliasing look after.
// NewDep is our own.
var makers = []string{
	"errors.New", "fmt.Errorf", "regexp.MustCompile", "lazyregexp.New", "json.JoinOptions", "strings.Fields",
	"sync.OnceValue", "sync.OnceValues", "NewDep", "toolpost.NewDep",
}

// unsettled names the variables of a declaration that do not hold a value
// known to stay as it is.
func (c *checker) unsettled(s *ast.ValueSpec) []*ast.Ident {
	var found []*ast.Ident
	for i, name := range s.Names {
		ok := name.Name == "_"
		switch {
		case ok:
		case len(s.Values) == len(s.Names):
			ok = c.settled(s.Values[i])
		case s.Values == nil:
			_, ok = c.info.TypeOf(s.Type).Underlying().(*types.Basic)
			ok = ok && c.info.TypeOf(s.Type) != types.Typ[types.Invalid]
			ok = ok || readOnlyFiles(s)
		}
		if !ok {
			found = append(found, name)
		}
	}
	return found
}

// readOnlyFiles reports whether a declaration is of embedded files: whatever they are
// passed to can only read them.
func readOnlyFiles(s *ast.ValueSpec) bool {
	return s.Values == nil && types.ExprString(s.Type) == "embed.FS"
}

func (c *checker) settled(e ast.Expr) bool {
	if v := c.info.Types[e]; v.Value != nil || v.IsNil() || v.IsType() {
		return true
	}
	switch e := e.(type) {
	case *ast.BasicLit, *ast.FuncLit:
		return true
	case *ast.ParenExpr:
		return c.settled(e.X)
	case *ast.BinaryExpr: // of texts that are variables, say
		return plain(c.info.TypeOf(e))
	case *ast.CompositeLit:
		return c.settledParts(e)
	case *ast.Ident:
		return c.settledName(e)
	case *ast.SelectorExpr:
		return c.settledName(e.Sel)
	case *ast.CallExpr:
		return c.settledCall(e)
	}
	return false
}

func (c *checker) settledParts(e *ast.CompositeLit) bool {
	t := c.info.TypeOf(e)
	if t == nil || t.Underlying() == types.Typ[types.Invalid] {
		return false
	}
	if _, pointer := t.Underlying().(*types.Pointer); pointer {
		return false // an element &T{} that is written {}
	}
	for _, part := range e.Elts {
		if kv, ok := part.(*ast.KeyValueExpr); ok {
			part = kv.Value
		}
		if !c.settled(part) {
			return false
		}
	}
	return true
}

// settledName accepts constants, functions, and variables that nothing can be
// changed through.
func (c *checker) settledName(id *ast.Ident) bool {
	switch o := c.info.Uses[id].(type) {
	case *types.Const, *types.Func, *types.Nil:
		return true
	case *types.Var:
		return plain(o.Type())
	}
	return false
}

func (c *checker) settledCall(e *ast.CallExpr) bool {
	fun := e.Fun
	if x, ok := fun.(*ast.IndexExpr); ok {
		fun = x.X
	}
	if slices.Contains(makers, types.ExprString(fun)) {
		return true
	}
	return c.info.Types[e.Fun].IsType() && len(e.Args) == 1 && c.settled(e.Args[0])
}

// plain reports whether a copy of a value shares nothing with it.
func plain(t types.Type) bool {
	if t == nil {
		return false
	}
	if types.Identical(t, types.Universe.Lookup("error").Type()) {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() != types.Invalid && u.Kind() != types.UnsafePointer
	case *types.Signature:
		return true
	}
	return false
}
