//go:build unix

package live

import (
	"testing"

	"github.com/toolpost/toolpost/dev/historytest"
	agents "github.com/toolpost/toolpost/model"
)

// TestClaudeModelHistories runs random conversations with the real CLI, which are
// continued by it and by the models of all providers.
func TestClaudeModelHistories(t *testing.T) {
	bin := claudeCLI(t)
	historytest.Run(t, historytest.Provider{
		Name: "claude-cli", Wire: cliWire(), Members: true,
		Open:  func(url string) (agents.Model, error) { return cliModel(t, bin, url), nil },
		Whole: true, // the CLI may go on before it is interrupted: loopLength
	}, 1)
}
