package cli

import (
	"fmt"
	"strconv"

	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// MinVersion is the oldest supported version: the first whose control protocol
// accepts tools of this process.
const MinVersion = "2.0.0"

var versionPattern = lazyregexp.New(`^\s*v?((\d+)\.(\d+)\.(\d+)[-+.\w]*)`)

// A VersionError reports a command that is too old.
type VersionError struct {
	Version string
	Minimum string
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("the claude command has version %s, but %s or later is required; update it with %q", e.Version, e.Minimum, install)
}

// Supported returns a *VersionError for a version older than [MinVersion].
func Supported(version string) error {
	have := versionPattern.FindStringSubmatch(version)
	if have == nil {
		return fmt.Errorf("read the version %q of the claude command: it is not like %s", version, MinVersion)
	}
	if !AtLeast(version, MinVersion) {
		return &VersionError{have[1], MinVersion}
	}
	return nil
}

// AtLeast reports whether version is least or newer.
func AtLeast(version, least string) bool {
	have, want := versionPattern.FindStringSubmatch(version), versionPattern.FindStringSubmatch(least)
	if have == nil || want == nil {
		return false
	}
	for i := 2; i <= 4; i++ {
		h, _ := strconv.Atoi(have[i]) // digits; more than an int holds is the largest
		w, _ := strconv.Atoi(want[i])
		if h != w {
			return h > w
		}
	}
	return true
}
