package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A Sandbox isolates the commands of the Bash tool, on Linux and macOS. What the
// other tools may do is set by permissions.
type Sandbox struct {
	Enabled             bool                `json:"enabled"`
	Required            bool                `json:"failIfUnavailable,omitempty"`         // refuses to start without a sandbox
	AutoAllow           *bool               `json:"autoAllowBashIfSandboxed,omitempty"`  // runs sandboxed commands without a permission request; true if nil
	AllowUnsandboxed    *bool               `json:"allowUnsandboxedCommands,omitempty"`  // lets the model ask for a command outside; true if nil
	ExcludedCommands    []string            `json:"excludedCommands,omitempty"`          // run outside the sandbox, such as docker
	IgnoreViolations    map[string][]string `json:"ignoreViolations,omitempty"`          // not reported, by command ("*" for all): parts of their text
	WeakerNestedSandbox bool                `json:"enableWeakerNestedSandbox,omitempty"` // for containers without privileges; less secure

	// Network determines what sandboxed commands may connect to.
	Network struct {
		AllowedDomains      []string `json:"allowedDomains,omitempty"`
		DeniedDomains       []string `json:"deniedDomains,omitempty"`
		StrictAllowlist     bool     `json:"strictAllowlist,omitempty"`  // denies all that is not in AllowedDomains, where a permission request would ask
		AllowUnixSockets    []string `json:"allowUnixSockets,omitempty"` // paths
		AllowAllUnixSockets bool     `json:"allowAllUnixSockets,omitempty"`
		AllowLocalBinding   bool     `json:"allowLocalBinding,omitempty"`
		AllowMachLookup     []string `json:"allowMachLookup,omitempty"` // services of macOS, such as com.apple.CoreSimulator.*
		HTTPProxyPort       int      `json:"httpProxyPort,omitempty"`
		SOCKSProxyPort      int      `json:"socksProxyPort,omitempty"`
	} `json:"network,omitzero"`

	// Filesystem determines which paths sandboxed commands may use.
	Filesystem struct {
		AllowWrite []string `json:"allowWrite,omitempty"`
		DenyWrite  []string `json:"denyWrite,omitempty"`
		DenyRead   []string `json:"denyRead,omitempty"`
		AllowRead  []string `json:"allowRead,omitempty"`
	} `json:"filesystem,omitzero"`
}

// settingsFile returns the path of the file that Settings names.
func (o *Options) settingsFile() string {
	if filepath.IsAbs(o.Settings) {
		return o.Settings
	}
	return filepath.Join(o.Dir, o.Settings)
}

// settings returns the settings with the sandbox in them: as JSON, or the name of a
// file.
func (o *Options) settings() (string, error) {
	if o.Sandbox == nil {
		return o.Settings, nil
	}
	raw := []byte(o.Settings)
	if o.Settings != "" && !inline(o.Settings) {
		var err error
		if raw, err = os.ReadFile(o.settingsFile()); err != nil {
			return "", fmt.Errorf("read Settings, to add the Sandbox: %w", err)
		}
	}
	all := map[string]json.RawMessage{}
	if len(raw) > 0 {
		if err := json.Unmarshal(raw, &all); err != nil {
			return "", fmt.Errorf("read Settings, to add the Sandbox: %w", err)
		}
	}
	if all["sandbox"] != nil {
		return "", errors.New("both Settings and Sandbox set the sandbox; set only one")
	}
	sandbox, err := json.Marshal(o.Sandbox)
	if err != nil {
		return "", err
	}
	all["sandbox"] = sandbox
	merged, err := json.Marshal(all)
	return string(merged), err
}
