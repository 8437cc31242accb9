// Package service is the command "service": it has the system start serve when the user logs
// in, as a unit of systemd, an agent of launchd or a task of Windows.
package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// Command returns the command "service". Serve are the flags of the command "serve".
func Command(serve *pflag.FlagSet) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "service",
		Short: "Start serve when you log in",
		Long: `Have the system start "toolpost serve" when you log in, and again when it fails:
as a unit of systemd on Linux, an agent of launchd on macOS, a task on Windows.`,
		Example: `  toolpost service install --config toolpost.json
  toolpost service status
  toolpost service uninstall`,
		Args: cli.RejectUnknown,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(installCommand(serve), uninstallCommand(), statusCommand())
	for _, c := range cmd.Commands() {
		c.Args = cli.CheckArgs(c.Args)
	}
	return cmd
}

func installCommand(serve *pflag.FlagSet) *cobra.Command {
	in := &installation{}
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install and start the service, or change it",
		Long: `Write the description of the service, start it and wait until it serves. The
flags of serve become its flags. Running it again replaces the service.

The service gets your PATH, and the folder of the configuration as its working
directory. It does not get other variables, because the description would show
them: the command names those that the configuration needs, and where to put
them.`,
		Example: `  toolpost service install
  toolpost service install --config tools.json --addr 127.0.0.1:9000
  toolpost service install --print`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if in.system, err = thisSystem(); err != nil {
				return err
			}
			return in.run(cmd)
		},
	}
	f := cmd.Flags()
	serve.VisitAll(func(flag *pflag.Flag) {
		if isForService(flag.Name) {
			f.AddFlag(flag)
		}
	})
	f.BoolVar(&in.print, "print", false, "print the description of the service, and do nothing")
	f.BoolVar(&in.json, "json", false, "write the state of the service as JSON")
	cli.Exclusive(cmd, "print", "json")
	cli.Exclusive(cmd, "insecure", "require-token")
	cli.Exclusive(cmd, "insecure", "token-file")
	return cmd
}

// isForService reports whether a flag of serve is one of the service, which serves a
// configuration at one address.
func isForService(name string) bool {
	switch name {
	case "help", "stdio", "record", "log-file", // of one run
		"tools", "root", "pass-env", "allow-address", // of a folder
		"header", "env", "share", "transport", // of one server
		"profile", "dialect": // of one client: commands do not find such a serve
		return false
	}
	return true
}

// A record remembers what was installed.
type record struct {
	Config string `json:"config"`
}

func recordFile() (string, error) {
	dir, err := owner.SettingsDir()
	return filepath.Join(dir, "service.json"), err
}

func uninstallCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Stop and remove the service",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			file, err := Remove(cmd.Context())
			if err != nil {
				return fmt.Errorf("remove the service: %w", err)
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), &report{File: file})
			}
			if file == "" {
				fmt.Fprintln(cmd.ErrOrStderr(), "The service is not installed.")
				return nil
			}
			fmt.Fprintf(cmd.ErrOrStderr(), "Removed %s.\n", cleartext.Printable(file))
			return nil
		},
	}
	cli.AddJSONFlag(cmd, &asJSON)
	return cmd
}

// Installed returns the file that describes the service, "" if there is none.
func Installed() string {
	s, err := thisSystem()
	if err != nil || !isInstalled(s) {
		return ""
	}
	return s.file()
}

// Remove ends and removes the service. It returns the file that described it, "" if there was
// none.
func Remove(ctx context.Context) (string, error) {
	s, err := thisSystem()
	if err != nil || !isInstalled(s) {
		return "", err
	}
	left := servingRun(ctx)
	if err := s.remove(ctx); err != nil {
		return "", err
	}
	endLeft(s, left)
	if _, is := s.(*systemd); !is { // its journal is the system's
		_ = errors.Join(os.Remove(s.log()), os.Remove(s.log()+".1")) // there may be none
	}
	path, err := recordFile()
	if err == nil {
		err = os.Remove(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return s.file(), err
}

// endLeft ends a run of the service: Windows ends only what the task started itself.
func endLeft(s system, run *owner.Run) {
	if _, is := s.(*scheduler); !is || run == nil {
		return
	}
	if p, err := os.FindProcess(run.PID); err == nil {
		_ = p.Kill() // it may have ended
	}
}

// isInstalled reports whether the system has the service, and not one that is the user's.
func isInstalled(s system) bool {
	if units, is := s.(*systemd); is && units.isForeign() {
		return false
	}
	return exists(s.file())
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// A report is what the commands write as JSON.
type report struct {
	Installed bool       `json:"installed"`
	Running   bool       `json:"running"`
	File      string     `json:"file,omitempty"` // the description
	Config    string     `json:"config,omitempty"`
	URL       string     `json:"url,omitempty"` // of /mcp
	PID       int        `json:"pid,omitempty"`
	Since     *time.Time `json:"since,omitempty"`
	Log       string     `json:"log,omitempty"` // a file, or on Linux the command that shows the log
}

func statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show whether the service runs, and where its log is",
		Long: `Show whether the service is installed and runs, since when, and where its log
is. Exit with 1 if it does not run. "toolpost status" shows its servers.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := thisSystem()
			if err != nil {
				return err
			}
			r := describe(cmd.Context(), s)
			if asJSON {
				err = cli.WriteJSON(cmd.OutOrStdout(), r)
			} else {
				err = r.show(cmd.OutOrStdout())
			}
			if err == nil && !r.Running {
				err = cli.ErrShown
			}
			return err
		},
	}
	cli.AddJSONFlag(cmd, &asJSON)
	return cmd
}
