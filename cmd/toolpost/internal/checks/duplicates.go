package checks

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/clients"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/doctor"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/link"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/owner"
)

// duplicates reports servers that clients start themselves although they get them from this
// configuration too. It reads the files of linked clients only.
func duplicates(found *config.Config) (findings []doctor.Finding) {
	file, err := filepath.Abs(found.File)
	if found.File == "" || err != nil {
		return nil
	}
	data, err := config.Read(file)
	if err != nil {
		return nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil // the files of clients are in the home folder
	}
	folder, _ := os.Getwd() // if it is unknown, only the user's own files are read
	store, err := link.Open()
	if err != nil {
		return nil
	}
	gateway := &link.Gateway{Move: clients.Move{File: file, Data: data, Folder: folder}}
	if run := owner.FindRun(found); run != nil {
		gateway.URL = run.URL
	}
	for _, f := range link.Files(clients.Files(home, "", runtime.GOOS, os.LookupEnv), false) {
		for _, server := range store.Duplicates(f, gateway) {
			findings = append(findings, doctor.Finding{
				ID: "duplicate-server", Severity: doctor.Warning, File: f.Path, Server: server.Same,
				Message: fmt.Sprintf("%s has %q too, so that it lists the tools of this server twice", f.Client, server.Name),
				Fix:     "toolpost link --move " + f.ID(),
			})
		}
	}
	return findings
}
