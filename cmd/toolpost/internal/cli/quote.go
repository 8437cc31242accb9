package cli

import (
	"bytes"
	"encoding/json"
)

// QuoteJSON returns a text as a JSON string.
func QuoteJSON(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string is always encoded
	return bytes.TrimSpace(b.Bytes())
}
