package cli

import (
	"fmt"

	"github.com/toolpost/toolpost/claude/internal/cliversion"
)

// minVersion is the oldest supported version: the first whose control protocol
// accepts tools of this process.
const minVersion = "2.0.0"

// A VersionError reports a command that is too old.
type VersionError struct {
	Version string
	Minimum string
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("the claude command has version %s, but %s or later is required; update it with %q", e.Version, e.Minimum, install)
}

// Supported returns a *VersionError for a version that is too old.
func Supported(text string) error {
	have := cliversion.Parse(text)
	if have == nil {
		return fmt.Errorf("read the version %q of the claude command: it is not like %s", text, minVersion)
	}
	if !cliversion.AtLeast(text, minVersion) {
		return &VersionError{have[1], minVersion}
	}
	return nil
}
