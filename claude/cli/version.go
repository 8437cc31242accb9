package cli

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
)

// MinVersion is the oldest version that speaks the control protocol as package
// claude does: the first that takes tools of this process.
const MinVersion = "2.0.0"

var versionPattern = regexp.MustCompile(`^\s*v?((\d+)\.(\d+)\.(\d+)[-+.\w]*)`)

// A VersionError reports a command that is too old.
type VersionError struct {
	Version string
	Minimum string
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("the claude command has version %s, at least %s is needed; update it with %q", e.Version, e.Minimum, install)
}

// Version returns the version that the command tells, such as "2.1.329". It
// starts the command; package claude learns the version from its messages.
func Version(ctx context.Context, path string) (string, error) {
	path, err := Find(path)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env = environment(os.Environ(), nil, "")
	cmd.WaitDelay = lastWords // what it started may hold its output open
	ownGroup(cmd)
	cmd.Cancel = func() error { killGroup(cmd.Process.Pid); return nil }
	text, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("ask %q for its version: %w", path, err)
	}
	found := versionPattern.FindStringSubmatch(string(text))
	if found == nil {
		return "", fmt.Errorf("ask %q for its version: it answers %.80q; is it the claude command?", path, text)
	}
	return found[1], nil
}

// Supported returns a *VersionError for a version older than [MinVersion].
func Supported(version string) error {
	have := versionPattern.FindStringSubmatch(version)
	if have == nil {
		return fmt.Errorf("read the version %q of the claude command: it is not like %s", version, MinVersion)
	}
	least := versionPattern.FindStringSubmatch(MinVersion)
	for i := 2; i <= 4; i++ {
		h, _ := strconv.Atoi(have[i]) // digits; more than an int holds is the largest
		l, _ := strconv.Atoi(least[i])
		if h != l {
			if h < l {
				return &VersionError{have[1], MinVersion}
			}
			return nil
		}
	}
	return nil
}
