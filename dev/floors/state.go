package floors

import (
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// State checks that no package has an init function, and that nothing at
// package level changes after it was declared.
func State(files []*File) []Problem {
	var found []Problem
	own := newKnown(files)
	for path, pkg := range own.files {
		c := own.check(path)
		found = append(found, c.variables()...)
		found = append(found, c.changes()...)
		for _, f := range pkg {
			found = append(found, inits(f)...)
		}
	}
	return found
}

func inits(f *File) []Problem {
	for _, d := range f.Syntax.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			return []Problem{f.problem(fn.Pos(), "function init: do it where it is needed")}
		}
	}
	return nil
}

// A checker knows what the names of one package stand for.
type checker struct {
	files   []*File
	pkg     *types.Package
	info    *types.Info
	parents map[ast.Node]ast.Node
}

// known imports the packages of the module, and of the standard library those
// whose types a gate looks into. Of others it knows only their names.
type known struct {
	files    map[string][]*File
	checked  map[string]*checker
	standard types.Importer
	needed   []string
}

func newKnown(files []*File) *known {
	k := &known{packages(files), map[string]*checker{}, importer.ForCompiler(token.NewFileSet(), "source", nil), []string{"sync", "sync/atomic"}}
	for _, f := range files {
		k.needed = append(k.needed, embeddedPackages(f)...)
	}
	return k
}

func (k *known) check(path string) *checker {
	if c := k.checked[path]; c != nil {
		return c
	}
	pkg := k.files[path]
	c := &checker{files: pkg, parents: map[ast.Node]ast.Node{}, info: &types.Info{
		Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
		Types: map[ast.Expr]types.TypeAndValue{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
	}}
	var syntax []*ast.File
	for _, f := range pkg {
		syntax = append(syntax, f.Syntax)
		ast.PreorderStack(f.Syntax, nil, func(n ast.Node, above []ast.Node) bool {
			if len(above) > 0 {
				c.parents[n] = above[len(above)-1]
			}
			return true
		})
	}
	conf := types.Config{Importer: k, Error: func(error) {}, DisableUnusedImportCheck: true}
	c.pkg, _ = conf.Check(path, pkg[0].Files, syntax, c.info) // errors are those of the missing packages
	k.checked[path] = c
	return c
}

// Import returns a package of the module or the standard library, or an empty one.
func (k *known) Import(path string) (*types.Package, error) {
	if ours := strings.TrimPrefix(strings.TrimPrefix(path, module), "/"); within(module, path) && k.files[ours] != nil {
		return k.check(ours).pkg, nil
	}
	if slices.Contains(k.needed, path) && isStandard(path) {
		return k.standard.Import(path)
	}
	p := types.NewPackage(path, path[strings.LastIndex(path, "/")+1:])
	p.MarkComplete()
	return p, nil
}

func synchronised(path string) bool { return path == "sync" || path == "sync/atomic" }

// variables looks for variables that are made to change, or could.
func (c *checker) variables() []Problem {
	var found []Problem
	for _, f := range c.files {
		for _, s := range variableSpecs(f) {
			unsettled := c.unsettled(s)
			for _, name := range s.Names {
				o := c.info.Defs[name]
				switch {
				case o == nil:
				case changing(o.Type(), 0):
					found = append(found, f.problem(name.Pos(), "package variable %s is of a type made to change", name.Name))
				case slices.Contains(unsettled, name):
					found = append(found, f.problem(name.Pos(), "package variable %s is not of a kind that stays as it is", name.Name))
				}
			}
		}
	}
	return found
}

// variableSpecs returns the declarations of package variables.
func variableSpecs(f *File) []*ast.ValueSpec {
	var all []*ast.ValueSpec
	for _, d := range f.Syntax.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
			for _, s := range g.Specs {
				all = append(all, s.(*ast.ValueSpec))
			}
		}
	}
	return all
}

func changing(t types.Type, depth int) bool {
	if depth > 8 { // a recursive type
		return false
	}
	if n, ok := types.Unalias(t).(*types.Named); ok && n.Obj().Pkg() != nil && synchronised(n.Obj().Pkg().Path()) {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Chan:
		return true
	case *types.Pointer:
		return changing(u.Elem(), depth+1)
	case *types.Array:
		return changing(u.Elem(), depth+1)
	case *types.Struct:
		for f := range u.Fields() {
			if changing(f.Type(), depth+1) {
				return true
			}
		}
	}
	return false
}
