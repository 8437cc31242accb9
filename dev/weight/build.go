package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// goCommand runs the go command and returns what it prints to w.
func goCommand(w io.Writer, args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as releases are built
	var problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = w, &problems
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, problems.Bytes())
	}
	return nil
}

// build builds the program, and returns the functions that call methods by name. The
// linker reports them, because they have it keep the exported methods of all types.
func build(path string) (doors []string, err error) {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-dumpdep", "-o", path, program)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as releases are built
	edges, err := cmd.StderrPipe()                  // some 15 MB
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("build the program: %w", err)
	}
	var problems strings.Builder
	lines := bufio.NewScanner(edges)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if name, edge, _ := strings.Cut(line, " "); strings.HasPrefix(edge, "<ReflectMethod>") {
			doors = append(doors, name)
		}
		if problems.Len() < 4<<10 && !strings.Contains(line, " -> ") {
			problems.WriteString(line + "\n")
		}
	}
	if err := errors.Join(lines.Err(), cmd.Wait()); err != nil {
		return nil, fmt.Errorf("build the program: %w\n%s", err, problems.String())
	}
	slices.Sort(doors)
	return slices.Compact(doors), nil
}

// A linkedModule is a module that the program links a package of.
type linkedModule struct {
	path string
	size float64 // MB of its zip
}

// linkedModules returns the modules that a build of a program downloads, the largest
// first.
func linkedModules(program string) ([]linkedModule, error) {
	var out, cache bytes.Buffer
	if err := goCommand(&out, "list", "-deps", "-json=Module", program); err != nil {
		return nil, err
	}
	if err := goCommand(&cache, "env", "GOMODCACHE"); err != nil {
		return nil, err
	}
	zips := filepath.Join(strings.TrimSpace(cache.String()), "cache", "download")
	var all []linkedModule
	seen := map[string]bool{}
	for d := json.NewDecoder(&out); ; {
		var p struct {
			Module *struct {
				Path, Version string
				Main          bool
			}
		}
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("read what go list prints: %w", err)
		}
		m := p.Module
		if m == nil || m.Main || seen[m.Path] {
			continue
		}
		seen[m.Path] = true
		zip := filepath.Join(zips, filepath.FromSlash(escaped(m.Path)), "@v", escaped(m.Version)+".zip")
		if _, err := os.Stat(zip); err != nil {
			return nil, fmt.Errorf("%w; run go mod download", err)
		}
		all = append(all, linkedModule{m.Path, size(zip)})
	}
	slices.SortFunc(all, func(a, b linkedModule) int { return int(1e6 * (b.size - a.size)) })
	return all, nil
}

// escaped returns a path as the module cache writes it: capitals as ! and the small
// letter.
func escaped(path string) string {
	var b strings.Builder
	for _, r := range path {
		if unicode.IsUpper(r) {
			b.WriteByte('!')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
