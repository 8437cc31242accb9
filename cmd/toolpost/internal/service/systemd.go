package service

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
)

// unit is the name of the unit of systemd.
const unit = "toolpost.service"

// mark begins the unit. Another one of this name is the user's, and is neither replaced nor removed.
const mark = "# Written by toolpost service install, which replaces it.\n"

// systemd runs the job as a unit of the user.
type systemd struct{ settings string } // the user's folder of settings

func (s *systemd) file() string { return filepath.Join(s.settings, "systemd", "user", unit) }

func (s *systemd) log() string { return "journalctl --user --unit " + unit }

func (s *systemd) check(ctx context.Context) error {
	if _, err := run(ctx, "systemctl", "--user", "show-environment"); err != nil {
		return fmt.Errorf("there is no systemd session of this user: %w. Log in as the user itself, not with su or sudo; in a container, run toolpost serve", err)
	}
	if s.isForeign() {
		return fmt.Errorf("%s is a unit that Toolpost has not written; give it another name first", s.file())
	}
	return nil
}

// encode writes the unit. Values of Environment and words of ExecStart are in quotes; a path
// of the other keys is the rest of its line.
func (s *systemd) encode(j *job) ([]byte, error) {
	if err := j.check(); err != nil {
		return nil, err
	}
	if strings.ContainsAny(j.Command[0], "\"'\\") {
		return nil, fmt.Errorf("systemd runs no program whose path has quotes or backslashes: %s", j.Command[0])
	}
	var b strings.Builder
	b.WriteString(mark + "[Unit]\nDescription=Toolpost: one endpoint for MCP servers\n\n[Service]\nExecStart=")
	for i, word := range j.Command {
		if i > 0 {
			b.WriteByte(' ')
			word = strings.ReplaceAll(word, "$", "$$") // systemd expands variables in arguments, not in the path of the program
		}
		b.WriteString(quoteUnit(word))
	}
	separator := string(filepath.Separator) // so that no space and no backslash ends the line
	b.WriteString("\nWorkingDirectory=" + escapeUnit(strings.TrimSuffix(j.Folder, separator)) + separator + "\n")
	for _, v := range j.Variables {
		b.WriteString("Environment=" + quoteUnit(v) + "\n")
	}
	if j.Secrets != "" {
		b.WriteString("EnvironmentFile=-" + escapeUnit(j.Secrets) + "\n")
	}
	// A wrong command line or configuration stays wrong: exit code 2.
	b.WriteString("Restart=on-failure\nRestartSec=5\nRestartPreventExitStatus=2\n\n[Install]\nWantedBy=default.target\n")
	return []byte(b.String()), nil
}

// escapeUnit returns a text that systemd does not expand.
func escapeUnit(text string) string { return strings.ReplaceAll(text, "%", "%%") }

func quoteUnit(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%").Replace(word) + `"`
}

func (s *systemd) start(ctx context.Context) error {
	for _, args := range [][]string{{"daemon-reload"}, {"enable", s.file()}, {"restart", unit}} {
		if _, err := run(ctx, "systemctl", append([]string{"--user"}, args...)...); err != nil {
			return err
		}
	}
	return nil
}

func (s *systemd) remove(ctx context.Context) error {
	if _, err := run(ctx, "systemctl", "--user", "disable", "--now", unit); err != nil && s.state(ctx) == running {
		return err
	}
	if err := os.Remove(s.file()); err != nil {
		return err
	}
	// Without a session, disable leaves its link, and nothing has read the unit.
	_ = os.Remove(filepath.Join(filepath.Dir(s.file()), "default.target.wants", unit))
	_, _ = run(ctx, "systemctl", "--user", "daemon-reload")
	return nil
}

// isForeign reports whether the user has another unit of this name.
func (s *systemd) isForeign() bool {
	info, err := os.Lstat(s.file())
	if err != nil {
		return false
	}
	data, err := os.ReadFile(s.file())
	return err != nil || !info.Mode().IsRegular() || !strings.HasPrefix(string(data), mark)
}

func (s *systemd) state(ctx context.Context) state {
	text, _ := run(ctx, "systemctl", "--user", "show", "--property=ActiveState", "--value", unit) // without a session, the state is unknown
	switch text {
	case "active", "reloading":
		return running
	case "failed", "inactive":
		return stopped
	}
	return unknown
}

// hint returns how the service starts at boot, "" if it does.
func (s *systemd) hint(ctx context.Context) string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	if text, err := run(ctx, "loginctl", "show-user", u.Uid, "--property=Linger", "--value"); err == nil && text == "yes" {
		return ""
	}
	return "It runs while you are logged in. To start it at boot: loginctl enable-linger"
}
