package floors

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"strings"
)

// interfaces knows the named types of the module, and reads those of the
// standard library.
type interfaces struct {
	files    map[string][]*File
	standard types.Importer
}

// interfaceSizes counts all methods, with those of embedded interfaces. One
// of an outside module, which is not read, counts as a full one.
func interfaceSizes(files []*File) []Problem {
	var found []Problem
	all := &interfaces{packages(files), importer.ForCompiler(token.NewFileSet(), "source", nil)}
	for _, f := range files {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			i, ok := n.(*ast.InterfaceType)
			if !ok {
				return true
			}
			names := map[string]bool{}
			all.collect(f, i, names, 0)
			if c := i.Methods.NumFields(); c > maxInterfaceMethods {
				found = append(found, f.problem(i.Pos(), "the interface has %d methods, at most %d", c, maxInterfaceMethods))
			} else if len(names) > maxMethodSet {
				found = append(found, f.problem(i.Pos(), "the interface has %d methods with those of embedded ones, at most %d", len(names), maxMethodSet))
			}
			return true
		})
	}
	return found
}

// collect adds the names of the methods of e, as f names it.
func (all *interfaces) collect(f *File, e ast.Expr, names map[string]bool, depth int) {
	if depth > 8 { // a recursive type
		return
	}
	switch x := e.(type) {
	case *ast.InterfaceType:
		for _, m := range x.Methods.List {
			for _, name := range m.Names {
				names[name.Name] = true
			}
			if m.Names == nil {
				all.collect(f, m.Type, names, depth+1)
			}
		}
	case *ast.ParenExpr:
		all.collect(f, x.X, names, depth)
	case *ast.IndexExpr:
		all.collect(f, x.X, names, depth)
	case *ast.IndexListExpr:
		all.collect(f, x.X, names, depth)
	case *ast.Ident:
		if x.Name == "error" {
			names["Error"] = true
		}
		all.named(f.Package, x.Name, names, depth)
	case *ast.SelectorExpr:
		all.selected(f, x, names, depth)
	}
}

// named adds the methods of an interface of the module.
func (all *interfaces) named(pkg, name string, names map[string]bool, depth int) {
	for _, f := range all.files[pkg] {
		for _, d := range f.Syntax.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, s := range g.Specs {
				if s := s.(*ast.TypeSpec); s.Name.Name == name {
					all.collect(f, s.Type, names, depth+1)
				}
			}
		}
	}
}

// selected adds the methods of an interface of another package.
func (all *interfaces) selected(f *File, x *ast.SelectorExpr, names map[string]bool, depth int) {
	path := importPath(f, types.ExprString(x.X))
	host, _, _ := strings.Cut(path, "/")
	if within(module, path) {
		all.named(strings.TrimPrefix(strings.TrimPrefix(path, module), "/"), x.Sel.Name, names, depth)
		return
	}
	if path != "" && !strings.Contains(host, ".") {
		if pkg, err := all.standard.Import(path); err == nil && pkg.Scope().Lookup(x.Sel.Name) != nil {
			if i, ok := pkg.Scope().Lookup(x.Sel.Name).Type().Underlying().(*types.Interface); ok {
				for m := range i.Methods() {
					names[m.Name()] = true
				}
			}
			return
		}
	}
	for i := range maxInterfaceMethods {
		names[fmt.Sprintf("%s.%s %d", path, x.Sel.Name, i)] = true
	}
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
