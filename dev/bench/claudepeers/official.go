package main

import (
	_ "embed" // for the driver
	"encoding/json"
	"os"
	"path/filepath"
)

// officialPython is the driver of the official SDK for Python, which runs it in a
// process of its own.
//
//go:embed official.py
var officialPython []byte

// officialCommand returns the command that plays a scenario with the official SDK.
// It names the CLI: the SDK would prefer the one that its package has.
func officialCommand(python, home, cli, file string, s *scenario) ([]string, error) {
	driver := filepath.Join(home, "official.py")
	if err := os.WriteFile(driver, officialPython, 0o600); err != nil {
		return nil, err
	}
	job, err := json.Marshal(map[string]any{
		"prompt": prompt, "model": model, "system": systemPrompt, "tools": s.tools, "agent": s.agent, "meet": s.name == "parallel",
		"cli": cli, "file": file, "patience": patience.Seconds(),
	})
	return []string{python, driver, string(job)}, err
}
