package main

import (
	"encoding/json"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/policy/trust"
)

// jsonFlag adds --json to a command that lists something: names in camelCase, []
// for an empty list, times in RFC 3339.
func jsonFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "write the list as JSON")
}

// A listedOutput is one output of "cache ls --json".
type listedOutput struct {
	Ref     string    `json:"ref"`
	Created time.Time `json:"created"`
	Lines   int64     `json:"lines"`
	Bytes   int64     `json:"bytes"`
}

func (all keptOutputs) writeJSON(w io.Writer) error {
	listed := []listedOutput{}
	for _, o := range all {
		listed = append(listed, listedOutput{o.ref, o.Created, o.Lines, o.Size})
	}
	return writeJSON(w, listed)
}

// A listedApproval is one file of "trust --list --json".
type listedApproval struct {
	File     string    `json:"file"`
	State    string    `json:"state"` // approved, changed or missing
	Approved time.Time `json:"approved"`
	Servers  []string  `json:"servers"`
}

func writeApprovals(w io.Writer, all []*trust.Approval) error {
	listed := []listedApproval{}
	for _, a := range all {
		servers := append([]string{}, slices.Sorted(maps.Keys(a.Servers))...)
		listed = append(listed, listedApproval{a.File, approvalState(a), a.Time, servers})
	}
	return writeJSON(w, listed)
}

// A listedPin is one tool of "pins --json".
type listedPin struct {
	Server  string          `json:"server"`
	Tool    string          `json:"tool"`  // the server's own name
	State   string          `json:"state"` // pinned, changed or new; the last two wait for an approval
	SHA256  string          `json:"sha256,omitempty"`
	Pending string          `json:"pendingSha256,omitempty"`
	Seen    *time.Time      `json:"seen,omitempty"`   // when the pending definition was first seen
	Before  json.RawMessage `json:"before,omitempty"` // the approved definition, if another one waits
	After   json.RawMessage `json:"after,omitempty"`  // the one that waits
}

// writeJSON writes the pins of servers.
func (p *pinned) writeJSON(w io.Writer, servers []string) error {
	listed := []listedPin{}
	for _, server := range servers {
		tools := p.lock.Servers[server]
		for _, tool := range slices.Sorted(maps.Keys(tools)) {
			pin, l := tools[tool], listedPin{Server: server, Tool: tool, State: "pinned"}
			if pin.Approved != nil {
				l.SHA256 = pin.Approved.Hash
			}
			if pin.Pending != nil {
				c := changeOf(server, tool, pin)
				l.State, l.Pending, l.Seen, l.Before, l.After = "changed", pin.Pending.Hash, &c.seen, c.before, c.after
				if c.isNew {
					l.State = "new"
				}
			}
			listed = append(listed, l)
		}
	}
	return writeJSON(w, listed)
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
func writeImports(w io.Writer, found *config.Imported, file string) error {
	listed := listedImport{File: file, Read: []listedFile{}, Servers: []importedServer{}, Notes: append([]string{}, found.Notes...)}
	for _, f := range found.Read {
		listed.Read = append(listed.Read, listedFile{f.Client, f.Path})
	}
	for _, s := range found.Servers {
		listed.Servers = append(listed.Servers, importedServer{s.Description.Name, s.From, s.Description.Lines, s.Folder})
	}
	return writeJSON(w, listed)
}
