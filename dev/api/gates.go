package main

import (
	"go/ast"
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/dev/floors"
)

const module = "github.com/toolpost/toolpost"

// internalImports returns the internal packages that a file imports, by the names that it
// uses for them.
func internalImports(f *floors.File) map[string]string {
	m := map[string]string{}
	for name, p := range importNames(f.Syntax) {
		if strings.HasPrefix(p, module+"/") && strings.Contains(p+"/", "/internal/") {
			m[name] = p
		}
	}
	return m
}

// importNames returns the import paths of a file by the names that it uses for them.
func importNames(f *ast.File) map[string]string {
	m := map[string]string{}
	for _, i := range f.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(p)
		if p == module {
			name = "toolpost"
		}
		if i.Name != nil {
			name = i.Name.Name
		}
		m[name] = p
	}
	return m
}

var selector = regexp.MustCompile(`\b([A-Za-z_]\w*)\.([A-Z]\w*)`)

// internalType returns the first type of an internal package that text names. A user of the
// library can neither write such a type nor read its documentation.
func internalType(text string, internal map[string]string) string {
	for _, m := range selector.FindAllStringSubmatch(text, -1) {
		if internal[m[1]] != "" {
			return m[0]
		}
	}
	return ""
}
