package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"strings"

	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// A system starts the job when the user logs in, and again when it fails.
type system interface {
	check(ctx context.Context) error // why it cannot be used here
	file() string                    // that describes the job
	log() string                     // the file, or the command that shows the log
	encode(j *job) ([]byte, error)
	start(ctx context.Context) error  // what the file describes, also if it runs already
	remove(ctx context.Context) error // ends the job and removes the file
	state(ctx context.Context) state
	hint(ctx context.Context) string // what the user may do next, or ""
}

// A state of the job.
type state string

const (
	running state = "running"
	stopped state = "stopped"
	unknown state = "unknown"
)

// thisSystem returns the system of this machine.
func thisSystem() (system, error) {
	settings, err := owner.SettingsDir()
	if err != nil {
		return nil, err
	}
	switch runtime.GOOS {
	case "linux":
		dir, err := os.UserConfigDir()
		return &systemd{dir}, err
	case "darwin":
		home, err := os.UserHomeDir()
		return &launchd{home}, err
	case "windows":
		u, err := user.Current()
		if err != nil {
			return nil, err
		}
		return &scheduler{settings: settings, user: u.Username}, nil
	}
	return nil, errors.New("toolpost knows the services of Linux with systemd, macOS and Windows; have your system run toolpost serve")
}

// run runs a program of the system and returns what it writes, without space around it.
func run(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	text := strings.TrimSpace(string(out))
	if err == nil {
		return text, nil
	}
	if text == "" {
		text = err.Error()
	}
	return text, fmt.Errorf("%s %s: %s", name, strings.Join(args, " "), cleartext.Printable(text))
}
