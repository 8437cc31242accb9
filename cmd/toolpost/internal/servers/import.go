package servers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/clients"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// Import returns the command "import".
func Import() *cobra.Command {
	var im imports
	cmd := &cobra.Command{
		Use:   "import [FILE…]",
		Short: "Import servers from other MCP clients",
		Long: `Read the configuration files of Claude Desktop, Claude Code, Cursor, VS Code,
Cline, Windsurf, Gemini CLI, Codex, Copilot CLI, opencode, Zed and Continue
where they exist,
your own and those of the current folder, or only the FILEs you name. Show what
would be added to ` + owner.ConfigName + `, and write the file if you give --write, or
answer yes in a terminal. Existing servers do not change.

Servers that only files of the current folder contain need your answer one by
one, because the author of the folder chose their commands. With --write they
are left out unless you name the FILE.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			im.named = args
			return im.run(cmd)
		},
	}
	cmd.Flags().BoolVar(&im.write, "write", false, "write the file without asking")
	cmd.Flags().BoolVar(&im.json, "json", false, "write what would be added as JSON, and no file")
	cli.Exclusive(cmd, "write", "json")
	cmd.Flags().StringVarP(&im.file, "output", "o", owner.ConfigName, "`FILE` to add the servers to")
	return cmd
}

// imports is one run of the command import.
type imports struct {
	file  string   // the toolpost.json
	write bool     // without asking
	json  bool     // only list what would be added
	named []string // files to read instead of those of all clients

	existing []byte // the content of file; nil if there is none

	moving *linking // the command link that imports; nil for the command import
}

func (im *imports) run(cmd *cobra.Command) error {
	found, err := im.find(nil)
	if err != nil {
		return err
	}
	if im.json {
		return errors.Join(writeImports(cmd.OutOrStdout(), found, im.file), im.unread(found))
	}
	showImports(cmd.OutOrStdout(), found, im.file)
	unread := im.unread(found)
	if found, err = im.pick(cmd, found); err != nil {
		return err
	}
	if len(found.Servers) > 0 {
		err = im.save(cmd, found)
	}
	return errors.Join(err, unread)
}

// unread returns an error if a file cannot be read that the user has named.
func (im *imports) unread(found *clients.Imported) error {
	if len(im.named) == 0 || len(found.Unread) == 0 {
		return nil
	}
	return fmt.Errorf("%s not read; the reasons are above", terminal.Count(len(found.Unread), "file"))
}

// pick returns the import of those servers that the user wants.
func (im *imports) pick(cmd *cobra.Command, found *clients.Imported) (*clients.Imported, error) {
	chosen, err := im.choose(cmd, found.Servers)
	if err != nil {
		return nil, err
	}
	before := im.existing
	found, err = im.find(func(s *clients.ImportedServer) bool { return chosen[s.Name] == s.Description.Digest })
	if err != nil {
		return nil, err
	}
	if len(found.Servers) != len(chosen) || !bytes.Equal(before, im.existing) {
		return nil, errors.New("a file changed while you were answering; nothing was written. Run the command again")
	}
	return found, nil
}

func (im *imports) save(cmd *cobra.Command, found *clients.Imported) error {
	message := fmt.Sprintf("Wrote %s to %s. It may contain secrets from those files: keep it out of version control.", terminal.Count(len(found.Servers), "server"), im.file)
	return saveConfiguration(cmd.Context(), cmd.ErrOrStderr(), im.file, im.existing, found.JSON, message)
}

// choose returns the servers to write, as names with the digests of what the
// user has seen.
func (im *imports) choose(cmd *cobra.Command, servers []clients.ImportedServer) (map[string]string, error) {
	var own, folder []clients.ImportedServer
	for _, s := range servers {
		if s.Folder == "" {
			own = append(own, s)
		} else {
			folder = append(folder, s)
		}
	}
	chosen := map[string]string{}
	stderr := cmd.ErrOrStderr()
	switch {
	case im.write || len(servers) == 0:
		include(chosen, own)
		if len(folder) > 0 {
			fmt.Fprintf(stderr, "Left out, because only files of this folder have them: %s. To add them, name their file: toolpost import FILE --write\n", cleartext.Printable(strings.Join(serverNames(folder), ", ")))
		}
	case !terminal.Is(cmd.InOrStdin()):
		fmt.Fprintf(stderr, "Nothing is written yet; add --write to write %s.\n", im.file)
	default:
		return chosen, im.ask(cmd, chosen, own, folder)
	}
	return chosen, nil
}

// ask adds the servers that the user wants to chosen.
func (im *imports) ask(cmd *cobra.Command, chosen map[string]string, own, folder []clients.ImportedServer) error {
	p := cli.NewPrompter(cmd)
	if len(own) > 0 {
		yes, err := p.Ask(cmd.Context(), fmt.Sprintf("Write your %d servers to %s?", len(own), im.file))
		if err != nil {
			return err
		}
		if yes {
			include(chosen, own)
		}
	}
	for _, s := range folder {
		yes, err := p.Ask(cmd.Context(), fmt.Sprintf("Add %s, which comes from a file of this folder?", s.Description.Name))
		if err != nil {
			return err
		}
		if yes {
			include(chosen, []clients.ImportedServer{s})
		}
	}
	return nil
}

func include(chosen map[string]string, servers []clients.ImportedServer) {
	for _, s := range servers {
		chosen[s.Name] = s.Description.Digest
	}
}

func serverNames(servers []clients.ImportedServer) (names []string) {
	for _, s := range servers {
		names = append(names, s.Name)
	}
	return names
}

// find reads the files of the clients.
func (im *imports) find(keep func(*clients.ImportedServer) bool) (found *clients.Imported, err error) {
	im.existing, err = config.Read(im.file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if im.moving != nil {
		im.moving.gateway.Data = im.existing
		return im.moving.gateway.Import(im.moving.movable, keep)
	}
	files, err := im.files()
	if err != nil {
		return nil, fmt.Errorf("find the files of other clients: %w", err)
	}
	return clients.Import(files, im.file, im.existing, keep)
}

// files lists the files that were named, else those of the known clients.
func (im *imports) files() ([]clients.File, error) {
	var files []clients.File
	for _, path := range im.named {
		path, err := filepath.Abs(path)
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return nil, cli.WrapUsage(err)
		}
		files = append(files, clients.FileOf(path))
	}
	if len(files) > 0 {
		return files, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	folder, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	return clients.Files(home, folder, runtime.GOOS, os.LookupEnv), nil
}

func showImports(w io.Writer, found *clients.Imported, file string) {
	if len(found.Read) == 0 {
		fmt.Fprintln(w, "No configuration of another MCP client was found.")
	}
	for _, f := range found.Read {
		fmt.Fprintf(w, "Read %s: %s\n", f.Client, f.Path)
	}
	if len(found.Servers) == 0 {
		fmt.Fprintf(w, "\nNothing to add to %s.\n", file)
	} else {
		fmt.Fprintln(w)
	}
	showAdded(w, found, file)
}

// showAdded shows the servers that are added, and notes.
func showAdded(w io.Writer, found *clients.Imported, file string) {
	if len(found.Servers) > 0 {
		fmt.Fprintf(w, "To add to %s:\n", cleartext.Printable(file))
	}
	for _, s := range found.Servers {
		from := ""
		if len(found.Read) > 1 { // of a single file, the first line says it
			from = ", from " + cleartext.Printable(strings.Join(s.From, ", "))
		}
		fmt.Fprintf(w, "  %s%s\n", s.Description.Name, from)
		for _, line := range s.Description.Lines {
			fmt.Fprintf(w, "      %s\n", line)
		}
		if s.Folder != "" {
			fmt.Fprintf(w, "      only a file of this folder has it: check the command before you add it\n")
		}
	}
	if len(found.Notes) > 0 {
		fmt.Fprint(w, "\nnotes:\n")
	}
	for _, n := range found.Notes {
		fmt.Fprintf(w, "  %s\n", cleartext.Printable(n))
	}
}

// A listedImport is what "import --json" would add.
type listedImport struct {
	File    string           `json:"file"` // the toolpost.json
	Read    []listedFile     `json:"read"`
	Servers []importedServer `json:"servers"`
	Notes   []string         `json:"notes"`
}

type listedFile struct {
	Client string `json:"client"`
	File   string `json:"file"`
}

type importedServer struct {
	Name   string   `json:"name"`
	From   []string `json:"from"`             // files
	Does   []string `json:"does"`             // what it runs, contacts and sends, without secrets
	Folder string   `json:"folder,omitempty"` // only files of this project have it
}

// writeImports writes what an import would add.
func writeImports(w io.Writer, found *clients.Imported, file string) error {
	listed := listedImport{File: file, Read: []listedFile{}, Servers: []importedServer{}, Notes: append([]string{}, found.Notes...)}
	for _, f := range found.Read {
		listed.Read = append(listed.Read, listedFile{f.Client, f.Path})
	}
	for _, s := range found.Servers {
		listed.Servers = append(listed.Servers, importedServer{s.Description.Name, s.From, s.Description.Lines, s.Folder})
	}
	return cli.WriteJSON(w, listed)
}
