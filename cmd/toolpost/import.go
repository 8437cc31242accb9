package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/gateway"
)

func importCommand() *cobra.Command {
	var (
		file  string
		write bool
	)
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Take over the servers of other MCP clients",
		Long: `Read the configuration files of Claude Desktop, Claude Code, Cursor, VS Code,
Windsurf and Gemini CLI where they exist, your own and those of the current
folder, and show what would be added to ` + configName + `. With --write, or if you
answer yes in a terminal, it is written. Existing servers stay as they are.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			found, err := findImports(file)
			if err != nil {
				return err
			}
			showImports(cmd.OutOrStdout(), found, file)
			if len(found.Servers) == 0 {
				return nil
			}
			if !write && isTerminal(cmd.InOrStdin()) {
				write = ask(cmd.InOrStdin(), cmd.ErrOrStderr(), "Write "+file+"?")
			} else if !write {
				fmt.Fprintf(cmd.ErrOrStderr(), "Nothing is written yet; add --write to write %s.\n", file)
			}
			if !write {
				return nil
			}
			if err := replaceFile(file, found.JSON); err != nil {
				return fmt.Errorf("write %s: %w", file, err)
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "Wrote %s. It may hold secrets of those files: keep it out of version control.\n", file)
			return nil
		},
	}
	cmd.Flags().BoolVar(&write, "write", false, "write the file without asking")
	cmd.Flags().StringVarP(&file, "output", "o", configName, "`FILE` to add the servers to")
	return cmd
}

func findImports(file string) (*gateway.Imported, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, fmt.Errorf("find the files of other clients: %w", err)
	}
	folder, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("find the files of other clients: %w", err)
	}
	existing, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return gateway.Import(gateway.Clients(home, folder, runtime.GOOS, os.LookupEnv), file, existing)
}

func showImports(w io.Writer, found *gateway.Imported, file string) {
	if len(found.Read) == 0 {
		fmt.Fprintln(w, "No configuration of another MCP client was found.")
	}
	for _, f := range found.Read {
		fmt.Fprintf(w, "read %s: %s\n", f.Client, f.Path)
	}
	if len(found.Servers) > 0 {
		fmt.Fprintf(w, "\nto add to %s:\n", file)
	} else {
		fmt.Fprintf(w, "\nnothing to add to %s\n", file)
	}
	for _, s := range found.Servers {
		fmt.Fprintf(w, "  %s: %s\n      from %s\n", printable(s.Name), printable(s.Summary), printable(strings.Join(s.From, ", ")))
	}
	if len(found.Notes) > 0 {
		fmt.Fprint(w, "\nnotes:\n")
	}
	for _, n := range found.Notes {
		fmt.Fprintf(w, "  %s\n", printable(n))
	}
}

// ask asks a question; only y and yes mean yes.
func ask(in io.Reader, out io.Writer, question string) bool {
	fmt.Fprintf(out, "\n%s [y/N] ", question)
	answer, _ := bufio.NewReader(in).ReadString('\n')
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// replaceFile writes a file whole or not at all. Only its owner may read it,
// because it may hold secrets, unless it was there with other rights before.
func replaceFile(path string, data []byte) error {
	mode := fs.FileMode(0o600)
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".toolpost-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
