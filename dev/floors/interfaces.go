package floors

import (
	"go/ast"
	"go/types"
	"strings"
)

// interfaceSizes counts the methods of interfaces, with those of embedded ones.
func interfaceSizes(files []*File) []Problem {
	var found []Problem
	own := newKnown(files)
	for _, f := range files {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			i, ok := n.(*ast.InterfaceType)
			if !ok {
				return true
			}
			if c := i.Methods.NumFields(); c > maxInterfaceMethods {
				found = append(found, f.problem(i.Pos(), "the interface has %d methods, at most %d", c, maxInterfaceMethods))
			} else if c := methodSet(own.check(f.Package).info.TypeOf(i)); c > maxMethodSet {
				found = append(found, f.problem(i.Pos(), "the interface has %d methods with those of embedded ones, at most %d", c, maxMethodSet))
			}
			return true
		})
	}
	return found
}

// methodSet counts the methods of an interface, each once.
func methodSet(t types.Type) int {
	i, ok := t.(*types.Interface)
	if !ok {
		return 0
	}
	return i.NumMethods() + unread(i)
}

// unread counts the methods of embedded interfaces of outside modules. They are
// not read: each counts as a full one.
func unread(t types.Type) int {
	if t.Underlying() == types.Typ[types.Invalid] {
		return maxInterfaceMethods
	}
	n := 0
	if i, ok := t.Underlying().(*types.Interface); ok {
		for e := range i.EmbeddedTypes() {
			n += unread(e)
		}
	}
	return n
}

// embeddedPackages returns the packages whose interfaces are embedded in f.
func embeddedPackages(f *File) []string {
	var all []string
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		i, ok := n.(*ast.InterfaceType)
		if !ok {
			return true
		}
		for _, m := range i.Methods.List {
			if s, ok := m.Type.(*ast.SelectorExpr); ok {
				all = append(all, importPath(f, types.ExprString(s.X)))
			}
		}
		return true
	})
	return all
}

// importPath returns the path of the package that f knows by a name.
func importPath(f *File, name string) string {
	for i, s := range f.Syntax.Imports {
		path := imports(f)[i].path
		if s.Name != nil && s.Name.Name == name || s.Name == nil && path[strings.LastIndex(path, "/")+1:] == name {
			return path
		}
	}
	return ""
}
