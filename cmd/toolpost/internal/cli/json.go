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
