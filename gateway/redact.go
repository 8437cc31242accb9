package gateway

import (
	"maps"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/upstream"
)

const hidden = "…"

// summary tells how a server is reached: no value of a variable or header, and
// nothing that looks like a secret.
func summary(s *Server) string {
	hide := func(string) string { return hidden }
	parts := []string{upstream.RedactURL(s.URL, hide)}
	if s.Command != "" {
		parts = append([]string{s.Command}, upstream.RedactArgs(s.Args, hide)...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		parts = append(parts, name+"="+hidden)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Headers)) {
		parts = append(parts, name+": "+hidden)
	}
	if s.Disabled {
		parts = append(parts, "(disabled)")
	}
	return strings.Join(parts, " ")
}
