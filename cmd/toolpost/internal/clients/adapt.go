package clients

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// adapt makes an entry of a client one of toolpost.json.
func adapt(v *hujson.Value, f File) {
	o := v.Value.(*hujson.Object)
	if f.Client == codex { // has no variables but those that translate writes
		for part := range v.All() {
			if l, ok := part.Value.(hujson.Literal); ok && l.Kind() == '"' && strings.Contains(l.String(), "${") {
				part.Value = hujson.String(strings.ReplaceAll(l.String(), "${", "$${"))
			}
		}
	}
	translate(o)
	o.Members = slices.DeleteFunc(o.Members, func(m hujson.ObjectMember) bool { return m.Value.Value.Kind() == 'n' })
	for part := range v.All() {
		if part.Value.Kind() == '"' {
			part.Value = adaptString(part.Value.(hujson.Literal), f)
		}
	}
	if f.Folder != "" {
		anchor(v, f.Folder)
	}
}

// anchor makes an entry of a project independent of where toolpost.json is.
func anchor(v *hujson.Value, folder string) {
	for _, key := range []string{"/cwd", "/envFile"} {
		path := v.Find(key)
		if path == nil || path.Value.Kind() != '"' {
			continue
		}
		s := path.Value.(hujson.Literal).String()
		if !filepath.IsAbs(s) && !strings.HasPrefix(s, "${") {
			path.Value = hujson.String(filepath.Join(folder, s))
		}
	}
	if o := v.Value.(*hujson.Object); v.Find("/cwd") == nil && usesFolder(v) {
		o.Members = append(o.Members, hujson.ObjectMember{
			Name: hujson.Value{Value: hujson.String("cwd")}, Value: hujson.Value{Value: hujson.String(folder)},
		})
	}
}

// inputVariable returns the variable that stands for an input of VS Code.
func inputVariable(id string) string {
	return strings.ToUpper(notInName.ReplaceAllString(id, "_"))
}

var (
	notInName      = lazyregexp.New(`[^A-Za-z0-9]+`)
	bareVariable   = lazyregexp.New(`\$([A-Za-z_][A-Za-z0-9_]*)`)
	dollarName     = lazyregexp.New(`^\$([A-Za-z_][A-Za-z0-9_]*)$`)
	openFile       = lazyregexp.New(`(^|[^$])\{file:([^{}]+)\}`)
	openVariable   = lazyregexp.New(`(^|[^$])\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)
	secretVariable = lazyregexp.New(`\$\{\{ *(?:secrets|inputs)\.([A-Za-z_][A-Za-z0-9_]*) *\}\}`)
	inputReference = lazyregexp.New(`\$\{input:([^}]*)\}`)
)

// adaptString writes variables as toolpost.json has them.
func adaptString(l hujson.Literal, f File) hujson.Literal {
	s := l.String()
	switch f.Client {
	case geminiCLI:
		s = bareVariable.ReplaceAllString(s, "$${$1}")
	case opencode:
		s = openVariable.ReplaceAllString(s, "$1$${$2}")
		s = openFile.ReplaceAllStringFunc(s, func(reference string) string { return besideFile(reference, f.Path) })
	case copilotCLI:
		s = dollarName.ReplaceAllString(s, "$${$1}")
	case continueDev:
		s = secretVariable.ReplaceAllString(s, "$${$1}")
	}
	if f.Folder != "" {
		s = strings.ReplaceAll(s, "${workspaceFolder}", f.Folder)
	}
	if s == l.String() {
		return l
	}
	return hujson.String(s)
}

// besideFile returns opencode's reference to a file as toolpost.json has it. A relative
// path begins at the folder of opencode's file.
func besideFile(reference, client string) string {
	m := openFile.FindStringSubmatch(reference)
	path := strings.TrimSpace(m[2])
	if !filepath.IsAbs(path) && !strings.HasPrefix(path, "~/") {
		path = filepath.Join(filepath.Dir(client), path)
	}
	return m[1] + "${file:" + path + "}"
}

// usesFolder reports whether a command depends on the folder it is started in.
func usesFolder(v *hujson.Value) bool {
	relative := func(v *hujson.Value) bool {
		l, ok := v.Value.(hujson.Literal)
		s := l.String()
		return ok && (s == "." || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../"))
	}
	command, args := v.Find("/command"), v.Find("/args")
	if command == nil || args == nil {
		return command != nil && relative(command)
	}
	for part := range args.All() {
		if relative(part) {
			return true
		}
	}
	return relative(command)
}
