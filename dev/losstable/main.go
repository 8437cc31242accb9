// Command losstable writes docs/dialects.md and docs/evidence/losses.md: which dialects
// there are, and what it costs to adapt the tools and schemas of package accept to each of
// them. It runs in the root of the repository.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := write("docs"); err != nil {
		fmt.Fprintln(os.Stderr, "losstable:", err)
		os.Exit(1)
	}
}

func write(folder string) error {
	all, err := pages()
	if err != nil {
		return err
	}
	for name, page := range all {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(page), 0o644); err != nil {
			return err
		}
	}
	return nil
}
