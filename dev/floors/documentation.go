package floors

import (
	"go/ast"
	"strings"
)

// Documentation checks that a package has one package comment, and that
// comments of exported names begin with the name.
func Documentation(files []*File) []Problem {
	var found []Problem
	for _, pkg := range packages(files) {
		found = append(found, packageComment(pkg)...)
	}
	for _, f := range files {
		for _, d := range f.Syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				found = append(found, functionComment(f, d)...)
			case *ast.GenDecl:
				found = append(found, declComments(f, d)...)
			}
		}
	}
	return found
}

func packageComment(pkg []*File) []Problem {
	var with []*File
	for _, f := range pkg {
		if f.Syntax.Doc != nil {
			with = append(with, f)
		}
	}
	if len(with) != 1 {
		f := pkg[len(pkg)-1]
		return []Problem{f.problem(f.Syntax.Package, "the package has %d package comments, want one", len(with))}
	}
	f := with[0]
	name := f.Syntax.Name.Name
	if text := f.Syntax.Doc.Text(); name != "main" && !strings.HasPrefix(text, "Package "+name+" ") {
		return []Problem{f.problem(f.Syntax.Package, "the package comment does not begin with %q", "Package "+name)}
	}
	return nil
}

// functionComment leaves out the methods that the errors package documents.
func functionComment(f *File, fn *ast.FuncDecl) []Problem {
	name, of := fn.Name.Name, Receiver(fn)
	exported := fn.Name.IsExported() && (of == "" || ast.IsExported(of))
	if !exported || of != "" && (name == "Error" || name == "Unwrap") {
		return nil
	}
	return comment(f, fn, name, fn.Doc)
}

// declComments lets a group of constants or variables have one comment.
func declComments(f *File, d *ast.GenDecl) []Problem {
	var found []Problem
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			doc := s.Doc
			if doc == nil && !d.Lparen.IsValid() {
				doc = d.Doc
			}
			if s.Name.IsExported() {
				found = append(found, comment(f, s, s.Name.Name, doc)...)
			}
		case *ast.ValueSpec:
			found = append(found, valueComment(f, d, s)...)
		}
	}
	return found
}

func valueComment(f *File, d *ast.GenDecl, s *ast.ValueSpec) []Problem {
	for _, name := range s.Names {
		switch {
		case !name.IsExported():
		case !d.Lparen.IsValid():
			return comment(f, s, name.Name, d.Doc)
		case d.Doc == nil && s.Doc == nil && s.Comment == nil:
			return comment(f, s, name.Name, nil)
		}
	}
	return nil
}

func comment(f *File, n ast.Node, name string, doc *ast.CommentGroup) []Problem {
	if doc == nil {
		return []Problem{f.problem(n.Pos(), "%s is not documented", name)}
	}
	words := strings.Fields(doc.Text())
	if len(words) > 1 && (words[0] == "A" || words[0] == "An" || words[0] == "The") {
		words = words[1:]
	}
	if len(words) == 0 || strings.TrimRight(words[0], ".,:;") != name {
		return []Problem{f.problem(n.Pos(), "the comment of %s does not begin with its name", name)}
	}
	return nil
}

// Receiver returns the name of the type that fn is a method of, "" for plain functions.
func Receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return ""
	}
	for e := fn.Recv.List[0].Type; ; {
		switch x := e.(type) {
		case *ast.Ident:
			return x.Name
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		default:
			return ""
		}
	}
}
