package cli

import (
	"strings"
)

// IsAddress reports whether an argument is the address of a server over HTTP.
func IsAddress(s string) bool {
	return (strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://")) && !strings.ContainsAny(s, " \t\n")
}
