package floors

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// State checks that no package has an init function, and that nothing at
// package level changes after it was declared.
func State(files []*File) []Problem {
	var found []Problem
	own := &known{packages(files), map[string]*checker{}}
	for path, pkg := range own.files {
		c := own.check(path)
		found = append(found, c.variables()...)
		found = append(found, c.aliases()...)
		for _, f := range pkg {
			found = append(found, inits(f)...)
			found = append(found, c.changes(f)...)
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
	parents map[*File]map[ast.Node]ast.Node
}

// known imports the packages of the module. Of others it knows only their
// names, and the types of those that are made to change.
type known struct {
	files   map[string][]*File
	checked map[string]*checker
}

func (k *known) check(path string) *checker {
	if c := k.checked[path]; c != nil {
		return c
	}
	pkg := k.files[path]
	c := &checker{files: pkg, parents: map[*File]map[ast.Node]ast.Node{}, info: &types.Info{
		Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
		Types: map[ast.Expr]types.TypeAndValue{}, Selections: map[*ast.SelectorExpr]*types.Selection{},
	}}
	var syntax []*ast.File
	for _, f := range pkg {
		syntax = append(syntax, f.Syntax)
		c.parents[f] = parentsOf(f.Syntax)
	}
	conf := types.Config{Importer: k, Error: func(error) {}, DisableUnusedImportCheck: true}
	c.pkg, _ = conf.Check(path, pkg[0].Files, syntax, c.info) // errors are those of the missing packages
	k.checked[path] = c
	return c
}

// Import returns a package of the module, or what is known of another.
func (k *known) Import(path string) (*types.Package, error) {
	if ours := strings.TrimPrefix(strings.TrimPrefix(path, module), "/"); within(module, path) && k.files[ours] != nil {
		return k.check(ours).pkg, nil
	}
	name := path[strings.LastIndex(path, "/")+1:]
	p := types.NewPackage(path, name)
	if synchronised(path) {
		for _, n := range strings.Fields("Mutex RWMutex Once WaitGroup Map Pool Cond Bool Int32 Int64 Uint32 Uint64 Uintptr Value") {
			p.Scope().Insert(types.NewTypeName(token.NoPos, p, n, nil))
			types.NewNamed(p.Scope().Lookup(n).(*types.TypeName), types.NewStruct(nil, nil), nil)
		}
		p.Scope().Insert(generic(p, "Pointer"))
	}
	p.MarkComplete()
	return p, nil
}

func generic(p *types.Package, name string) *types.TypeName {
	tn := types.NewTypeName(token.NoPos, p, name, nil)
	n := types.NewNamed(tn, types.NewStruct(nil, nil), nil)
	parameter := types.NewTypeName(token.NoPos, p, "T", nil)
	n.SetTypeParams([]*types.TypeParam{types.NewTypeParam(parameter, types.Universe.Lookup("any").Type())})
	return tn
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

// changes looks for places that change a package variable, ours or that of
// another package.
func (c *checker) changes(f *File) []Problem {
	var found []Problem
	report := func(e ast.Expr, how string) {
		if name := c.packageVariable(e); name != "" {
			found = append(found, f.problem(e.Pos(), "package variable %s %s", name, how))
		}
	}
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				report(e, "is assigned")
			}
		case *ast.IncDecStmt:
			report(n.X, "is assigned")
		case *ast.RangeStmt:
			report(n.Key, "is assigned")
			report(n.Value, "is assigned")
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				report(n.X, "has its address taken")
			}
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 && c.changingBuiltin(id) {
				report(n.Args[0], "is changed by "+id.Name)
			}
		}
		return true
	})
	return found
}

func (c *checker) changingBuiltin(id *ast.Ident) bool {
	switch id.Name {
	case "append", "copy", "clear", "delete":
		_, builtin := c.info.Uses[id].(*types.Builtin)
		return builtin
	}
	return false
}

// packageVariable names the package variable that e is or is a part of.
func (c *checker) packageVariable(e ast.Expr) string {
	if e == nil {
		return ""
	}
	id, part := rootIdent(e)
	if id == nil {
		return ""
	}
	switch o := c.info.Uses[id].(type) {
	case *types.Var:
		if o.Parent() == c.pkg.Scope() {
			return id.Name
		}
	case *types.PkgName:
		if part {
			return types.ExprString(e)
		}
	}
	return ""
}
