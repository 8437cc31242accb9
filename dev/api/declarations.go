package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/dev/floors"
)

// A pkg is a package that other modules may import.
type pkg struct {
	path  string // below the module's, "." for its root
	name  string
	lines []line
}

// A line is one exported name: a declaration of the package, or a field or method of one.
type line struct {
	name     string // "Call", "Call.ID"
	text     string // "type Call struct", "\tID string"
	internal string // a type of an internal package that the declaration names
}

// isMember reports whether the line is a field or a method.
func (l line) isMember() bool { return strings.Contains(l.name, ".") }

func (p *pkg) names() int {
	n := 0
	for _, l := range p.lines {
		if !l.isMember() {
			n++
		}
	}
	return n
}

// exported returns the public packages of the module, and what each of them exports.
func exported(files []*floors.File) []*pkg {
	byPath := map[string]*pkg{}
	for _, f := range files {
		if !isPublic(f) {
			continue
		}
		path := cmp.Or(f.Package, ".")
		p := byPath[path]
		if p == nil {
			p = &pkg{path: path, name: f.Syntax.Name.Name}
			byPath[path] = p
		}
		internal := internalImports(f)
		for _, decl := range f.Syntax.Decls {
			for _, l := range declared(f.Files, decl) {
				l.internal = internalType(l.text, internal)
				p.lines = append(p.lines, l)
			}
		}
	}
	var all []*pkg
	for _, p := range byPath {
		// A stable order keeps the fields of a type as they are declared. Files for
		// several systems declare a name more than once.
		slices.SortStableFunc(p.lines, func(a, b line) int { return cmp.Compare(rank(a), rank(b)) })
		p.lines = slices.CompactFunc(p.lines, func(a, b line) bool { return a == b })
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *pkg) int { return cmp.Compare(a.path, b.path) })
	return all
}

func isPublic(f *floors.File) bool {
	inside := "/" + f.Package + "/"
	return f.Syntax.Name.Name != "main" && !strings.Contains(inside, "/internal/") &&
		!strings.HasPrefix(inside, "/dev/") && !strings.HasPrefix(inside, "/examples/")
}

// rank orders names; the fields of a type follow it in the order of their declaration, and
// its methods follow those by name.
func rank(l line) string {
	owner, member, isMember := strings.Cut(l.name, ".")
	switch {
	case !isMember:
		return owner
	case strings.HasPrefix(l.text, "\tfunc "):
		return owner + " 2 " + member
	}
	return owner + " 1"
}

func declared(files *token.FileSet, decl ast.Decl) []line {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if l, ok := function(files, d); ok {
			return []line{l}
		}
	case *ast.GenDecl:
		switch d.Tok {
		case token.TYPE:
			var lines []line
			for _, s := range d.Specs {
				lines = append(lines, typeLines(files, s.(*ast.TypeSpec))...)
			}
			return lines
		case token.CONST, token.VAR:
			return values(files, d)
		}
	}
	return nil
}

// function returns the line of a function, or of a method of an exported type.
func function(files *token.FileSet, d *ast.FuncDecl) (line, bool) {
	if !d.Name.IsExported() {
		return line{}, false
	}
	signature := *d
	signature.Doc, signature.Body = nil, nil
	text := format(files, &signature)
	if d.Recv == nil {
		return line{name: d.Name.Name, text: text}, true
	}
	owner := floors.Receiver(d)
	return line{name: owner + "." + d.Name.Name, text: "\t" + text}, ast.IsExported(owner)
}

// values returns the constants or variables of a declaration. A constant without a type has
// that of the constant before it.
func values(files *token.FileSet, d *ast.GenDecl) []line {
	var lines []line
	implied := ""
	for _, s := range d.Specs {
		v := s.(*ast.ValueSpec)
		typ := implied
		if v.Type != nil || len(v.Values) > 0 {
			typ = ""
		}
		if v.Type != nil {
			typ = " " + format(files, v.Type)
		}
		implied = typ
		for i, name := range v.Names {
			if !name.IsExported() {
				continue
			}
			text := d.Tok.String() + " " + name.Name + typ
			if i < len(v.Values) {
				if literal, ok := v.Values[i].(*ast.BasicLit); ok && d.Tok == token.CONST {
					text += " = " + literal.Value
				}
			}
			lines = append(lines, line{name: name.Name, text: text})
		}
	}
	return lines
}

func typeLines(files *token.FileSet, t *ast.TypeSpec) []line {
	if !t.Name.IsExported() {
		return nil
	}
	head := "type " + t.Name.Name
	if t.TypeParams != nil {
		head += strings.TrimPrefix(format(files, &ast.FuncType{TypeParams: t.TypeParams, Params: &ast.FieldList{}}), "func")
		head = strings.TrimSuffix(head, "()")
	}
	if t.Assign.IsValid() {
		head += " ="
	}
	switch underlying := t.Type.(type) {
	case *ast.StructType:
		return append([]line{{name: t.Name.Name, text: head + " struct"}}, members(files, t.Name.Name, underlying.Fields)...)
	case *ast.InterfaceType:
		return append([]line{{name: t.Name.Name, text: head + " interface"}}, members(files, t.Name.Name, underlying.Methods)...)
	}
	return []line{{name: t.Name.Name, text: head + " " + format(files, t.Type)}}
}

// members returns the exported fields of a struct, or the methods of an interface. An
// embedded type is a line that has its name.
func members(files *token.FileSet, owner string, list *ast.FieldList) []line {
	var lines []line
	for _, f := range list.List {
		typ := format(files, f.Type)
		if len(f.Names) == 0 {
			name := strings.TrimLeft(typ, "*")
			name = name[strings.LastIndexByte(name, '.')+1:]
			if ast.IsExported(name) || !strings.Contains(typ, ".") && strings.ContainsAny(typ, "~|") {
				lines = append(lines, line{name: owner + "." + name, text: "\t" + typ})
			}
			continue
		}
		for _, name := range f.Names {
			if !name.IsExported() {
				continue
			}
			text := "\t" + name.Name + " " + typ
			if f.Tag != nil {
				text += " " + f.Tag.Value
			}
			lines = append(lines, line{name: owner + "." + name.Name, text: text})
		}
	}
	return lines
}

func format(files *token.FileSet, node any) string {
	var b bytes.Buffer
	config := printer.Config{Mode: printer.RawFormat}
	if err := config.Fprint(&b, files, node); err != nil {
		return fmt.Sprintf("%T: %v", node, err)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// record returns the lines of all packages, as docs/evidence/api.txt has them.
func record(packages []*pkg) string {
	var b strings.Builder
	for i, p := range packages {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "package %s\n", p.path)
		for _, l := range p.lines {
			b.WriteString(l.text + "\n")
		}
	}
	return b.String()
}
