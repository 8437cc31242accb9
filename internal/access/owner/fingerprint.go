package owner

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/environ"
)

// Fingerprint identifies everything from which a process starts the servers of a
// configuration: its files, the values that come from the environment, the variables that all
// programs inherit, and the build of this program. It is "" for a configuration to which the
// program has added functions, which cannot be compared.
func Fingerprint(c *config.Config, build ...string) string {
	if c.File == "" && c.URLs == "" {
		return ""
	}
	names := strings.Fields(environ.Common)
	all := []any{identity(c), c.Digest, build, environ.Select(func(name, _ string) bool {
		return environ.Matches(names, strings.ToUpper(name))
	})}
	for _, s := range c.Servers {
		if s.Wrap != nil {
			return ""
		}
		if dir, err := filepath.Abs(s.Dir); err == nil && s.Dir != "" {
			s.Dir = dir
		}
		all = append(all, s, fmt.Sprint(s.Err))
	}
	raw, err := json.Marshal(all)
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
