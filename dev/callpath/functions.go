//go:build unix

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/dev/floors"
)

// A function is a function, or a literal of one, in the source.
type function struct {
	pkg, name  string
	start, end token.Position
}

// enteredIn returns the functions that are entered according to all folders of counters.
func enteredIn(folders []string) ([]function, error) {
	times := map[function]int{}
	for _, folder := range folders {
		profile := filepath.Join(folder, "profile.txt")
		if out, err := exec.Command("go", "tool", "covdata", "textfmt", "-i", folder, "-o", profile).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("covdata: %w: %s", err, out)
		}
		entered, err := readProfile(profile)
		if err != nil {
			return nil, err
		}
		for f := range entered {
			times[f]++
		}
	}
	var all []function
	for f, n := range times {
		if n == len(folders) {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, func(a, b function) int {
		return strings.Compare(a.pkg+a.start.Filename+fmt.Sprintf("%06d", a.start.Offset), b.pkg+b.start.Filename+fmt.Sprintf("%06d", b.start.Offset))
	})
	return all, nil
}

// readProfile returns the functions of which a block was run.
func readProfile(profile string) (map[function]bool, error) {
	data, err := os.ReadFile(profile)
	if err != nil {
		return nil, err
	}
	entered, sources := map[function]bool{}, map[string][]function{}
	for line := range strings.Lines(string(data)) {
		file, block, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || file == "mode" || strings.HasSuffix(block, " 0") {
			continue
		}
		if sources[file] == nil {
			if sources[file], err = functionsOf(file); err != nil {
				return nil, err
			}
		}
		if f, ok := innermost(sources[file], block); ok {
			entered[f] = true
		}
	}
	return entered, nil
}

// module is the import path of the repository, in whose root the command runs.
const module = "github.com/toolpost/toolpost"

// functionsOf returns the functions of a file, those that contain others first.
func functionsOf(file string) ([]function, error) {
	name := strings.TrimPrefix(file, module+"/")
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, name, nil, 0)
	if err != nil {
		return nil, err
	}
	all := []function{}
	for _, d := range tree.Decls {
		declared, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		title := declared.Name.Name
		if declared.Recv != nil {
			title = floors.Receiver(declared) + "." + title
		}
		literals := 0
		ast.Inspect(declared, func(n ast.Node) bool {
			if l, ok := n.(*ast.FuncLit); ok {
				literals++
				all = append(all, function{path.Dir(file), title + ".func" + strconv.Itoa(literals), set.Position(l.Pos()), set.Position(l.End())})
			}
			return true
		})
		all = append(all, function{path.Dir(file), title, set.Position(declared.Pos()), set.Position(declared.End())})
	}
	return all, nil
}

// innermost returns the smallest function that contains a block.
func innermost(all []function, block string) (found function, ok bool) {
	var line, column int
	if _, err := fmt.Sscanf(block, "%d.%d,", &line, &column); err != nil {
		return found, false
	}
	for _, f := range all {
		begins := f.start.Line < line || f.start.Line == line && f.start.Column <= column
		ends := f.end.Line > line || f.end.Line == line && f.end.Column >= column
		if begins && ends && (!ok || f.end.Offset-f.start.Offset < found.end.Offset-found.start.Offset) {
			found, ok = f, true
		}
	}
	return found, ok
}

// stackOf returns the functions that wait for the answer of the server, each once, from the
// handler of HTTP to the one that has called the connection to the server.
func stackOf(file string) (names []string, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for one := range strings.SplitSeq(string(data), "\n\n") {
		if !strings.Contains(one, "httpserve.") || !strings.Contains(one, "upstream.") {
			continue
		}
		for line := range strings.Lines(one) {
			name, ok := strings.CutPrefix(line, module)
			if !ok {
				continue
			}
			name = strings.TrimLeft(name[:strings.LastIndexByte(name, '(')], "/.")
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		slices.Reverse(names)
		handler := slices.IndexFunc(names, func(name string) bool { return strings.HasSuffix(name, ".handle") })
		return slices.DeleteFunc(names[max(handler, 0):], func(name string) bool { return strings.HasPrefix(name, "internal/wire.") }), nil
	}
	return nil, fmt.Errorf("no goroutine of %s waits for the server", file)
}

// isGround reports whether a package is one that the steps of a call use: it knows no call.
func isGround(pkg string) bool { return strings.HasPrefix(pkg, module+"/internal/") }

// show prints the functions of a way, by package.
func show(title string, all []function, ground bool) {
	steps := 0
	for _, f := range all {
		if !isGround(f.pkg) {
			steps++
		}
	}
	fmt.Printf("%s: %d functions, and %d of packages below internal\n", title, steps, len(all)-steps)
	for len(all) > 0 {
		pkg := all[0].pkg
		n := slices.IndexFunc(all, func(f function) bool { return f.pkg != pkg })
		if n < 0 {
			n = len(all)
		}
		if !isGround(pkg) || ground {
			fmt.Printf("  %s (%d):", strings.TrimPrefix(pkg, module+"/"), n)
			for _, f := range all[:n] {
				fmt.Printf(" %s", f.name)
			}
			fmt.Println()
		}
		all = all[n:]
	}
}
