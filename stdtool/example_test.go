package stdtool_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/stdtool"
)

// The tools see only the files below the root that they are given.
func ExampleWorkspace_ReadOnly() {
	dir, err := os.MkdirTemp("", "stdtool")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	root, err := os.OpenRoot(dir)
	if err != nil {
		panic(err)
	}
	defer root.Close()
	if err := root.WriteFile("notes.txt", []byte("buy milk\n"), 0o600); err != nil {
		panic(err)
	}

	ctx := context.Background()
	set, err := toolpost.NewSet(ctx, stdtool.NewWorkspace(root).ReadOnly())
	if err != nil {
		panic(err)
	}
	text, err := set.CallText(ctx, "glob", map[string]string{"pattern": "*.txt"})
	fmt.Println(strings.TrimSpace(text), err)
	_, err = set.CallText(ctx, "read", map[string]string{"path": "../secret"})
	fmt.Println(err != nil)
	// Output:
	// notes.txt <nil>
	// true
}

// The tools that find files and lines, without those that read whole files.
func ExampleWorkspace_Grep() {
	dir, err := os.MkdirTemp("", "stdtool")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	root, err := os.OpenRoot(dir)
	if err != nil {
		panic(err)
	}
	defer root.Close()
	if err := root.WriteFile("notes.txt", []byte("buy milk\n"), 0o600); err != nil {
		panic(err)
	}

	ctx := context.Background()
	w := stdtool.NewWorkspace(root)
	set, err := toolpost.NewSet(ctx, toolpost.Tools{w.List(), w.Glob(), w.Grep()})
	if err != nil {
		panic(err)
	}
	text, err := set.CallText(ctx, "grep", map[string]string{"pattern": "milk"})
	fmt.Println(strings.Contains(text, "buy milk"), err)
	// Output: true <nil>
}

// Close ends what the commands have left running.
func ExampleNewShell() {
	shell := stdtool.NewShell(".", &stdtool.ShellOptions{Pass: []string{"LANG", "GO*"}})
	defer shell.Close()
	tools, err := shell.Tools(context.Background())
	if err != nil {
		panic(err)
	}
	for _, t := range tools {
		fmt.Println(t.Name)
	}
}

// A Workspace has the tools one by one: this set can edit files, and no more.
func ExampleWorkspace() {
	dir, err := os.MkdirTemp("", "stdtool")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	root, err := os.OpenRoot(dir)
	if err != nil {
		panic(err)
	}
	defer root.Close()
	if err := root.WriteFile("notes.txt", []byte("buy milk\n"), 0o600); err != nil {
		panic(err)
	}

	ctx := context.Background()
	w := stdtool.NewWorkspace(root)
	set, err := toolpost.NewSet(ctx, toolpost.Tools{w.Read(), w.Edit(), stdtool.Done()})
	if err != nil {
		panic(err)
	}
	text, err := set.CallText(ctx, "edit", map[string]string{"path": "notes.txt", "old_string": "milk", "new_string": "bread"})
	fmt.Println(strings.SplitN(text, "\n", 2)[0], err)
	// Output:
	// notes.txt: 1 replaced at line 1 <nil>
}
