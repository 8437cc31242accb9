// Package documents reads the pages of the repository for tests: their blocks of code, and
// the commands in them.
package documents

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// A Block is a fenced block of a page.
type Block struct {
	Page     string // relative to the root of the repository, with slashes
	Line     int    // of the first line in the block
	Language string // "sh", "jsonc", … or "" if the fence names none
	Text     string
}

// Where returns the place of a line of the block, which counts from 0.
func (b *Block) Where(line int) string { return fmt.Sprintf("%s:%d", b.Page, b.Line+line) }

// Blocks returns the blocks of all pages.
func Blocks(root string) ([]*Block, error) {
	pages, err := Pages(root)
	if err != nil {
		return nil, err
	}
	var all []*Block
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			return nil, err
		}
		all = append(all, blocksOf(filepath.ToSlash(page), string(text))...)
	}
	return all, nil
}

// Pages returns the paths of all pages, relative to the root.
func Pages(root string) ([]string, error) {
	var all []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range found {
			page, err := filepath.Rel(root, path)
			if err != nil {
				return nil, err
			}
			all = append(all, page)
		}
	}
	return all, nil
}

func blocksOf(page, text string) []*Block {
	var all []*Block
	var open *Block
	for i, line := range strings.Split(text, "\n") {
		switch language, fence := strings.CutPrefix(line, "```"); {
		case fence && open == nil:
			open = &Block{Page: page, Line: i + 2, Language: language}
			all = append(all, open)
		case fence:
			open = nil
		case open != nil:
			open.Text += line + "\n"
		}
	}
	return all
}

// A Command is a command line of toolpost in a page.
type Command struct {
	Where string
	Args  []string // without the name of the program
	Whole bool     // a line that can be run, not a mention in a sentence
}

var (
	mention  = regexp.MustCompile("`toolpost ([^`]*)`")
	variable = regexp.MustCompile(`^[A-Z_]+=`)
)

// Commands returns the commands of toolpost in all pages: of the blocks, and those that
// sentences name in backquotes.
func Commands(root string) ([]*Command, error) {
	blocks, err := Blocks(root)
	if err != nil {
		return nil, err
	}
	var all []*Command
	for _, b := range blocks {
		if b.IsScreen() || slices.Contains([]string{"sh", "bash", "yaml"}, b.Language) {
			all = append(all, b.commands()...)
		}
	}
	pages, err := Pages(root)
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			return nil, err
		}
		for i, line := range strings.Split(string(text), "\n") {
			for _, m := range mention.FindAllStringSubmatch(line, -1) {
				for _, words := range Words(m[1]) {
					all = append(all, &Command{Where: fmt.Sprintf("%s:%d", filepath.ToSlash(page), i+1), Args: words})
					break // what follows a pipe is another program
				}
			}
		}
	}
	return all, nil
}

// IsScreen reports whether the block shows what a terminal shows: commands after a prompt,
// and output.
func (b *Block) IsScreen() bool { return b.Language == "" || b.Language == "console" }

// commands returns the commands of a block.
func (b *Block) commands() []*Command {
	var all []*Command
	lines := strings.Split(b.Text, "\n")
	prompt := b.IsScreen()
	for i, line := range lines {
		if b.Language == "yaml" {
			line = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(line), "- "), "run: ")
		}
		line, command := strings.CutPrefix(line, "$ ")
		if prompt && !command {
			continue
		}
		for j := i; strings.HasSuffix(line, `\`) && j+1 < len(lines); j++ {
			line = strings.TrimSuffix(line, `\`) + lines[j+1]
		}
		for _, words := range Words(line) {
			if args := argsOf(words); args != nil {
				all = append(all, &Command{b.Where(i), args, true})
			}
		}
	}
	return all
}

// argsOf returns the arguments of toolpost, nil if the words are a command of another
// program.
func argsOf(words []string) []string {
	for len(words) > 0 && (variable.MatchString(words[0]) || words[0] == "export") {
		words = words[1:]
	}
	if len(words) > 2 && words[0] == "docker" && words[1] == "run" {
		if i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "ghcr.io/toolpost/toolpost") }); i > 0 {
			return words[i+1:]
		}
	}
	for _, program := range [][]string{{"toolpost"}, {"npx", "toolpost"}, {"uvx", "toolpost"}, {"go", "run", "./cmd/toolpost"}} {
		if len(words) >= len(program) && slices.Equal(words[:len(program)], program) {
			return slices.Clone(words[len(program):])
		}
	}
	return nil
}
