package documents

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Strings returns the strings of the program and the library, one on each line, but for
// tests; those that a file adds up are one.
func Strings(root string) (string, error) {
	var all strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "dev" || d.Name() == "sdk" || d.Name() == "testdata"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return appendStrings(&all, text)
	})
	return all.String(), err
}

// appendStrings writes the strings of a file of Go.
func appendStrings(all *strings.Builder, text []byte) error {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(text)), text, nil, 0)
	for before := token.ILLEGAL; ; {
		_, kind, literal := s.Scan()
		if kind == token.EOF {
			return nil
		}
		if kind == token.STRING {
			value, err := strconv.Unquote(literal)
			if err != nil {
				return err
			}
			if before != token.ADD {
				all.WriteByte('\n')
			}
			all.WriteString(value)
		}
		before = kind
	}
}
