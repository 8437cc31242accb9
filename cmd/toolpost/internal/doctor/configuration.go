package doctor

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/configfile"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/ownership"
)

// Configuration examines the file at path, whose content is data, without
// starting anything. The configuration is nil if the file cannot be used.
func Configuration(path string, data []byte) (*config.Config, []Finding) {
	cfg, problems := load(path, data)
	var all []Finding
	for i := range problems {
		all = append(all, findingOf(path, &problems[i]))
	}
	secrets := plainSecrets(data)
	for _, p := range secrets {
		all = append(all, Finding{
			ID: "secret-in-file", Severity: Warning, File: path, Line: p.line, Column: p.column, Server: p.server,
			Message: fmt.Sprintf("%s holds what looks like a secret in plain text", p.path),
			Fix:     `put the value into an environment variable or into a file that "envFile" names, and write "${NAME}" here`,
		})
	}
	return cfg, append(all, permissions(path, len(secrets) > 0)...)
}

// load reads the file, and returns what is wrong in it.
func load(path string, data []byte) (*config.Config, []config.Problem) {
	cfg, err := configfile.Load(path, data)
	if invalid, ok := errors.AsType[*config.Error](err); ok {
		return nil, invalid.Problems
	}
	if err != nil {
		return nil, []config.Problem{{Line: 1, Column: 1, Message: err.Error()}}
	}
	return cfg, cfg.Problems()
}

// findingOf turns what the reader of the configuration reports into a finding.
// Its messages include the fix.
func findingOf(path string, d *config.Problem) Finding {
	f := Finding{ID: "config-invalid", Severity: Error, File: path, Line: d.Line, Column: d.Column, Server: d.Server, Message: d.Message}
	switch {
	case strings.Contains(d.Message, "the environment variable"):
		f.ID = "variable-unset"
	case d.Key != "" && d.Warning:
		f.ID = "key-ignored"
	}
	if d.Warning {
		f.Severity = Warning
	}
	return f
}

// permissions examines which other users of the machine can read or write the file.
func permissions(path string, secrets bool) []Finding {
	if runtime.GOOS == "windows" {
		return nil // there, modes are not what decides
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil // it was read from elsewhere
	}
	var all []Finding
	if err := ownership.Check(path); err != nil {
		all = append(all, Finding{
			ID: "file-writable", Severity: Error, File: path,
			Message: "other users can change which programs toolpost runs as you: " + err.Error(),
			Fix:     fmt.Sprintf("chmod go-w %q", path),
		})
	}
	if secrets && info.Mode().Perm()&0o044 != 0 {
		all = append(all, Finding{
			ID: "file-readable", Severity: Warning, File: path,
			Message: "other users of this machine can read the secrets in the file",
			Fix:     fmt.Sprintf("chmod 600 %q", path),
		})
	}
	return all
}
