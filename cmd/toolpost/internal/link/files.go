package link

import (
	"os"
	"path/filepath"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/clients"
)

// Files returns, for each client, the file into which the gateway is written: the
// first that exists, otherwise the first. Project selects the files of a project
// instead of the user's own.
func Files(all []clients.File, project bool) []clients.File {
	var chosen []clients.File
	at := map[string]int{}
	for _, f := range all {
		if (f.Folder != "") != project || f.ServerPath("x") == nil {
			continue
		}
		i, seen := at[f.Client]
		switch {
		case !seen:
			at[f.Client] = len(chosen)
			chosen = append(chosen, f)
		case !exists(chosen[i].Path) && exists(f.Path):
			chosen[i] = f
		}
	}
	return chosen
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Installed reports whether a client seems to be on this machine: its file or the
// folder of its file exists.
func Installed(f clients.File) bool {
	if exists(f.Path) || f.Folder != "" {
		return exists(f.Path)
	}
	dir := filepath.Dir(f.Path)
	home, err := os.UserHomeDir()
	return err == nil && dir != home && exists(dir)
}
