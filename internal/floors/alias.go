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

// A holder is a variable that something can be changed through: a package
// variable, or a local one that shares its content.
type holder struct {
	object types.Object
	name   string // of the package variable
}

// aliases looks for changes of package variables that are not assignments: by
// methods, by functions they are passed to, through other variables.
func (c *checker) aliases() []Problem {
	var found []Problem
	holders := c.holders()
	for i := 0; i < len(holders); i++ {
		h := holders[i]
		for _, f := range c.files {
			parents := c.parents[f]
			for n := range parents {
				id, ok := n.(*ast.Ident)
				if !ok || c.info.Uses[id] != h.object {
					continue
				}
				u := use{c, h, parents, nil, ""}
				u.follow(id)
				if u.how != "" {
					found = append(found, f.problem(id.Pos(), "package variable %s %s", h.name, u.how))
				}
				for _, o := range u.shared {
					if next := (holder{o, h.name}); !slices.Contains(holders, next) {
						holders = append(holders, next)
					}
				}
			}
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
				if o == nil || name.Name == "_" || plain(o.Type()) || readOnlyFiles(s) {
					continue
				}
				if len(s.Values) == len(s.Names) {
					if call, ok := s.Values[i].(*ast.CallExpr); ok && types.ExprString(call.Fun) != "strings.Fields" && c.settledCall(call) {
						continue
					}
				}
				all = append(all, holder{o, name.Name})
			}
		}
	}
	return all
}

func parentsOf(root ast.Node) map[ast.Node]ast.Node {
	all := map[ast.Node]ast.Node{}
	var path []ast.Node
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		if len(path) > 0 {
			all[n] = path[len(path)-1]
		}
		path = append(path, n)
		return true
	})
	return all
}

// A use is one place that names a holder.
type use struct {
	*checker
	holder  holder
	parents map[ast.Node]ast.Node
	shared  []types.Object // the variables that share the content from here on
	how     string         // the content could change
}

// follow goes from e outwards, as long as the expression shares the content.
func (u *use) follow(e ast.Expr) {
	for {
		outer, ok := u.parents[e].(ast.Expr)
		if !ok {
			u.statement(e, u.parents[e])
			return
		}
		if !u.part(e, outer) {
			u.expression(e, outer)
			return
		}
		if s, ok := outer.(*ast.SelectorExpr); ok {
			if selection := u.info.Selections[s]; selection == nil || selection.Kind() != types.FieldVal {
				u.method(selection)
				return
			}
		}
		if e = outer; plain(u.info.TypeOf(e)) && !u.written(e) {
			return
		}
	}
}

// part reports whether outer is a part of e.
func (u *use) part(e, outer ast.Expr) bool {
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

// written reports whether a plain part is the target of a change.
func (u *use) written(e ast.Expr) bool {
	switch x := u.parents[e].(type) {
	case *ast.AssignStmt:
		return slices.Contains(x.Lhs, e)
	case *ast.RangeStmt:
		return x.Key == e || x.Value == e
	case *ast.IncDecStmt, *ast.ParenExpr:
		return true
	case *ast.UnaryExpr:
		return x.Op == token.AND
	case *ast.SelectorExpr:
		return x.X == e
	}
	return false
}

func (u *use) method(s *types.Selection) {
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

func (u *use) expression(e, outer ast.Expr) {
	switch x := outer.(type) {
	case *ast.BinaryExpr, *ast.IndexExpr:
	case *ast.UnaryExpr:
		u.changed(x.Op == token.AND, "has its address taken")
	case *ast.CallExpr:
		u.argument(e, x)
	default:
		u.how = "is passed on"
	}
}

func (u *use) argument(e ast.Expr, call *ast.CallExpr) {
	if call.Fun == e || slices.Contains(readers, types.ExprString(call.Fun)) {
		return
	}
	id, ok := call.Fun.(*ast.Ident)
	if _, builtin := u.info.Uses[id].(*types.Builtin); !ok || !builtin {
		u.how = "is passed on"
		return
	}
	switch {
	case id.Name == "len" || id.Name == "cap":
	case e == call.Args[0]:
		u.changed(true, "is changed by "+id.Name)
	default: // append and copy: the elements are copies
		s, ok := u.info.TypeOf(e).Underlying().(*types.Slice)
		if !ok || !plain(s.Elem()) || id.Name == "append" && !call.Ellipsis.IsValid() {
			u.how = "is passed on"
		}
	}
}

// changed notes what changes does not see: a change through a local variable.
func (u *use) changed(is bool, how string) {
	if is && u.holder.object.Parent() != u.pkg.Scope() {
		u.how = how
	}
}

func (u *use) statement(e ast.Expr, outer ast.Node) {
	switch x := outer.(type) {
	case *ast.AssignStmt:
		if slices.Contains(x.Lhs, e) {
			_, whole := e.(*ast.Ident)
			u.changed(!whole, "is assigned")
			return
		}
		u.share(x.Lhs[min(slices.Index(x.Rhs, e), len(x.Lhs)-1)])
	case *ast.ValueSpec:
		u.share(x.Names[min(slices.Index(x.Values, e), len(x.Names)-1)])
	case *ast.RangeStmt:
		if x.X != e {
			_, whole := e.(*ast.Ident)
			u.changed(!whole, "is assigned")
		} else if x.Value != nil {
			u.share(x.Value)
		}
	case *ast.IncDecStmt:
		u.changed(true, "is assigned")
	case *ast.SwitchStmt, *ast.CaseClause, *ast.ExprStmt:
	default:
		u.how = "is passed on"
	}
}

// share notes that a local variable holds the same content.
func (u *use) share(target ast.Expr) {
	id, ok := target.(*ast.Ident)
	if !ok {
		u.how = "is passed on"
		return
	}
	o := u.info.ObjectOf(id)
	switch {
	case id.Name == "_" || o != nil && plain(o.Type()):
	case o == nil || o.Parent() == u.pkg.Scope():
		u.how = "is passed on"
	default:
		u.shared = append(u.shared, o)
	}
}
