package servers

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/clients"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/link"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// A linkedClient is one line of link --list.
type linkedClient struct {
	Client string `json:"client"`
	File   string `json:"file"`
	State  string `json:"state"`          // linked, changed (linked, and the file has changed since), unlinked or absent
	Name   string `json:"name,omitempty"` // of the entry
}

// show lists the clients.
func (l *linking) show(w io.Writer, files []clients.File) error {
	all := []linkedClient{}
	for _, f := range files {
		c := linkedClient{Client: f.ID(), File: f.Path, State: "unlinked"}
		name, changed := l.store.Linked(f)
		switch {
		case name != "" && changed:
			c.State, c.Name = "changed", name
		case name != "":
			c.State, c.Name = "linked", name
		case !link.Installed(f):
			c.State = "absent"
		}
		all = append(all, c)
	}
	if l.json {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(all)
	}
	for _, c := range all {
		fmt.Fprintf(w, "%-15s %-9s %s\n", c.Client, c.State, cleartext.Printable(c.File))
	}
	return nil
}
