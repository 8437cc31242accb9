package floors

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
)

// readers are the functions of other packages that only read what they are
// given.
var readers = []string{
	"slices.Contains", "slices.ContainsFunc", "slices.Index", "slices.IndexFunc", "slices.BinarySearch",
	"slices.Equal", "slices.Values", "slices.All", "slices.Clone", "maps.Clone", "maps.Equal", "maps.Keys", "strings.Join",
}

// A holder is a package variable, or a local one that shares its content.
type holder struct {
	object types.Object
	name   string // of the package variable
	free   bool   // may be passed on, because that cannot change it
}

// changes looks for places that change a package variable: by assignments, by
// methods, by functions it is passed to, through other variables.
func (c *checker) changes() []Problem {
	var found []Problem
	uses := map[types.Object][]*ast.Ident{}
	for id, o := range c.info.Uses {
		uses[o] = append(uses[o], id)
	}
	holders := c.holders()
	for i := 0; i < len(holders); i++ {
		h := holders[i]
		for _, id := range uses[h.object] {
			u := use{checker: c, holder: h}
			u.follow(id)
			if u.how != "" {
				found = append(found, c.files[0].problem(id.Pos(), "package variable %s %s", h.name, u.how))
			}
			for _, o := range u.shared {
				if next := (holder{o, h.name, false}); !slices.Contains(holders, next) {
					holders = append(holders, next)
				}
			}
		}
	}
	for o, ids := range uses {
		if _, ok := o.(*types.PkgName); ok {
			found = append(found, c.changesElsewhere(o, ids)...)
		}
	}
	return found
}

// changesElsewhere looks for places that change a variable of an imported package.
func (c *checker) changesElsewhere(pkg types.Object, uses []*ast.Ident) []Problem {
	var found []Problem
	for _, id := range uses {
		u := use{checker: c, holder: holder{pkg, "", true}}
		selector, ok := c.parents[id].(*ast.SelectorExpr)
		if !ok {
			continue
		}
		if u.follow(selector); u.how != "" {
			found = append(found, c.files[0].problem(id.Pos(), "package variable %s %s", types.ExprString(selector), u.how))
		}
	}
	return found
}

func (c *checker) holders() []holder {
	var all []holder
	for _, f := range c.files {
		for _, s := range variableSpecs(f) {
			for i, name := range s.Names {
				o := c.info.Defs[name]
				if o == nil {
					continue
				}
				free := plain(o.Type()) || readOnlyFiles(s)
				if len(s.Values) == len(s.Names) {
					call, ok := s.Values[i].(*ast.CallExpr)
					free = free || ok && types.ExprString(call.Fun) != "strings.Fields" && c.settledCall(call)
				}
				all = append(all, holder{o, name.Name, free})
			}
		}
	}
	return all
}

// A use is one place that names a holder.
type use struct {
	*checker
	holder holder
	shared []types.Object // the variables that share the content from here on
	how    string         // the content could change
}

// follow goes from e outwards, as long as the expression is a part of the content.
func (u *use) follow(e ast.Expr) {
	for {
		outer, ok := u.parents[e].(ast.Expr)
		if !ok || !isPart(e, outer) {
			u.end(e, u.parents[e])
			return
		}
		if s, ok := outer.(*ast.SelectorExpr); ok {
			if selection := u.info.Selections[s]; selection == nil || selection.Kind() != types.FieldVal {
				u.method(e, selection)
				return
			}
		}
		e = outer
	}
}

// isPart reports whether outer is a part of e.
func isPart(e, outer ast.Expr) bool {
	switch x := outer.(type) {
	case *ast.ParenExpr, *ast.StarExpr, *ast.TypeAssertExpr:
		return true
	case *ast.SelectorExpr:
		return x.X == e
	case *ast.IndexExpr:
		return x.X == e
	case *ast.SliceExpr:
		return x.X == e
	}
	return false
}

// target returns what gets the value of e, nil if nothing does.
func target(e ast.Expr, outer ast.Node) ast.Expr {
	switch x := outer.(type) {
	case *ast.AssignStmt:
		if i := slices.Index(x.Rhs, e); i >= 0 {
			return x.Lhs[min(i, len(x.Lhs)-1)]
		}
	case *ast.ValueSpec:
		if i := slices.Index(x.Values, e); i >= 0 {
			return x.Names[min(i, len(x.Names)-1)]
		}
	case *ast.RangeStmt:
		if x.X == e {
			return x.Value
		}
	}
	return nil
}

// end judges what is done with e, a whole part of the content.
func (u *use) end(e ast.Expr, outer ast.Node) {
	if to := target(e, outer); to != nil {
		u.share(e, to)
		return
	}
	switch x := outer.(type) {
	case *ast.AssignStmt, *ast.IncDecStmt:
		u.assigned(e)
	case *ast.RangeStmt:
		if x.X != e {
			u.assigned(e)
		}
	case *ast.UnaryExpr:
		if x.Op == token.AND {
			u.how = "has its address taken"
		}
	case *ast.CallExpr:
		u.argument(e, x)
	case *ast.BinaryExpr, *ast.IndexExpr, *ast.SwitchStmt, *ast.CaseClause, *ast.ExprStmt:
	default:
		u.passed(e)
	}
}

// assigned lets a local variable get another value.
func (u *use) assigned(e ast.Expr) {
	_, whole := e.(*ast.Ident)
	if !whole || u.holder.object.Parent() == u.pkg.Scope() {
		u.how = "is assigned"
	}
}

// passed notes that others get e, unless it is a copy that shares nothing.
func (u *use) passed(e ast.Expr) {
	if !u.holder.free && !plain(u.info.TypeOf(e)) {
		u.how = "is passed on"
	}
}

// share notes that a local variable holds e, or a part of it.
func (u *use) share(e, target ast.Expr) {
	id, ok := target.(*ast.Ident)
	if !ok {
		u.passed(e)
		return
	}
	o := u.info.ObjectOf(id)
	switch {
	case u.holder.free, id.Name == "_", o != nil && plain(o.Type()):
	case o == nil || o.Parent() == u.pkg.Scope():
		u.passed(e)
	default:
		u.shared = append(u.shared, o)
	}
}

func (u *use) method(e ast.Expr, s *types.Selection) {
	if u.holder.free {
		return
	}
	if s != nil && s.Kind() == types.MethodVal {
		receiver := s.Obj().(*types.Func).Signature().Recv().Type()
		_, pointer := receiver.Underlying().(*types.Pointer)
		if !pointer && (plain(receiver) || flat(receiver)) {
			return
		}
	}
	u.how = "has a method that can change it"
}

// flat reports whether a struct or an array has plain parts only.
func flat(t types.Type) bool {
	switch x := t.Underlying().(type) {
	case *types.Array:
		return plain(x.Elem()) || flat(x.Elem())
	case *types.Struct:
		for f := range x.Fields() {
			if !plain(f.Type()) && !flat(f.Type()) {
				return false
			}
		}
		return true
	}
	return false
}

func (u *use) argument(e ast.Expr, call *ast.CallExpr) {
	if call.Fun == e || slices.Contains(readers, types.ExprString(call.Fun)) {
		return
	}
	id, ok := call.Fun.(*ast.Ident)
	if _, builtin := u.info.Uses[id].(*types.Builtin); !ok || !builtin {
		u.passed(e)
		return
	}
	switch id.Name {
	case "len", "cap":
	case "append", "copy", "clear", "delete":
		if e == call.Args[0] {
			u.how = "is changed by " + id.Name
			return
		}
		// The elements are copies.
		s, ok := u.info.TypeOf(e).Underlying().(*types.Slice)
		if !ok || !plain(s.Elem()) || id.Name == "append" && !call.Ellipsis.IsValid() {
			u.passed(e)
		}
	default:
		u.passed(e)
	}
}
