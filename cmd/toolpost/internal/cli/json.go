package cli

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"
)

// AddJSONFlag adds --json to a command that lists something: names in camelCase, []
// for an empty list, times in RFC 3339.
func AddJSONFlag(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "write the list as JSON")
}

// WriteJSON writes a value as indented JSON.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// A Change is what commands that change something write with --json.
type Change struct {
	Changed bool     `json:"changed"`           // false if the user did not agree, or nothing had to change
	Names   []string `json:"names"`             // of what the command is about: servers, tools, secrets, tokens, outputs
	File    string   `json:"file,omitempty"`    // the configuration that was changed
	Place   string   `json:"place,omitempty"`   // where a secret or login is kept
	Token   string   `json:"token,omitempty"`   // a new one, which is not shown again
	Version string   `json:"version,omitempty"` // the newest one
	Run     string   `json:"run,omitempty"`     // the command that does what this one could not
}

// Done notes that the command did what it is for.
func (c *Change) Done(names ...string) { c.Changed, c.Names = true, names }

// Note is Done unless there is an error.
func (c *Change) Note(err error, names ...string) {
	if err == nil {
		c.Done(names...)
	}
}

// AddChangeFlag adds --json to a command that changes something and notes it in the Change.
// What the command shows then goes to standard error.
func AddChangeFlag(cmd *cobra.Command) *Change {
	var asJSON bool
	cmd.Flags().BoolVar(&asJSON, "json", false, "write what was changed as JSON, and everything else to standard error")
	c := &Change{Names: []string{}}
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !asJSON {
			return run(cmd, args)
		}
		out := cmd.OutOrStdout()
		cmd.SetOut(cmd.ErrOrStderr())
		if err := run(cmd, args); err != nil {
			return err
		}
		return WriteJSON(out, c)
	}
	return c
}
