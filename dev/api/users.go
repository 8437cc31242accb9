package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// unused returns the exported names without a user: no code of another package, no Example
// and no page names them, and neither does the declaration of a name that has a user. The
// constants of a type are used if the type is, and errors are there for those who tell them
// apart.
func unused(root string, packages []*pkg) ([]string, error) {
	used, err := uses(root, packages)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, p := range packages {
		spread(p, used)
		for _, l := range p.lines {
			if !l.isMember() && !used[key(p.path, l.name)] && !isOneOf(p, l, used) && !isError(l.name) {
				found = append(found, p.path+" "+l.name)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

func key(pkg, name string) string { return strings.TrimPrefix(pkg, ".") + " " + name }

// isOneOf reports whether the line is a constant of a type that is used.
func isOneOf(p *pkg, l line, used map[string]bool) bool {
	words := strings.Fields(l.text)
	return words[0] == "const" && len(words) > 2 && used[key(p.path, words[2])]
}

func isError(name string) bool {
	return strings.HasPrefix(name, "Err") || strings.HasSuffix(name, "Error")
}

var exportedWord = regexp.MustCompile(`(^|[^.\w])([A-Z]\w*)`)

// spread marks what the declarations of used names mention as used, until nothing is new.
func spread(p *pkg, used map[string]bool) {
	for again := true; again; {
		again = false
		for _, l := range p.lines {
			owner, _, _ := strings.Cut(l.name, ".")
			if !used[key(p.path, owner)] {
				continue
			}
			for _, m := range exportedWord.FindAllStringSubmatch(l.text, -1) {
				if k := key(p.path, m[2]); !used[k] {
					used[k], again = true, true
				}
			}
		}
	}
}

// uses returns the names that code of other packages, Examples and pages use. Modules of
// their own in folders below are users too.
func uses(root string, packages []*pkg) (map[string]bool, error) {
	used := map[string]bool{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != root && (d.Name()[0] == '.' || d.Name() == "testdata" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(file) != ".go" && filepath.Ext(file) != ".md" || d.Name() == "CHANGELOG.md":
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if filepath.Ext(file) == ".md" {
			pageUses(string(text), packages, used)
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		return codeUses(file, text, filepath.ToSlash(rel), used)
	})
	return used, err
}

// codeUses adds the names that a file uses of other packages, or in Examples of its own.
func codeUses(file string, text []byte, pkg string, used map[string]bool) error {
	f, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	own := path.Join(module, pkg)
	names := importNames(f)
	for _, decl := range f.Decls {
		fn, isFunc := decl.(*ast.FuncDecl)
		isExample := isFunc && strings.HasPrefix(fn.Name.Name, "Example")
		ast.Inspect(decl, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok {
					if p := names[x.Name]; (p == module || strings.HasPrefix(p, module+"/")) && (p != own || isExample) {
						used[key(strings.TrimPrefix(strings.TrimPrefix(p, module), "/"), s.Sel.Name)] = true
					}
				}
			}
			return true
		})
	}
	return nil
}

// pageUses adds the names that a page writes as Go does, such as agent.New.
func pageUses(text string, packages []*pkg, used map[string]bool) {
	for _, m := range selector.FindAllStringSubmatch(text, -1) {
		for _, p := range packages {
			if p.name == m[1] {
				used[key(p.path, m[2])] = true
			}
		}
	}
}
