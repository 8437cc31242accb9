package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/atomicfile"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/netaddr"
)

// An installation is one run of "service install".
type installation struct {
	system      system
	print, json bool
}

func (in *installation) run(cmd *cobra.Command) error {
	ctx := cmd.Context()
	if !in.print {
		if err := in.system.check(ctx); err != nil {
			return err
		}
	}
	path, _ := cmd.Flags().GetString("config") // serve has the flag
	found, err := cli.FindConfiguration(ctx, path, cli.NewPrompter(cmd))
	if err != nil {
		return err
	}
	if found == nil || found.File == "" {
		return cli.Usagef("there is no %s that a service could serve; run \"toolpost add\" first, or name one with --config", owner.ConfigName)
	}
	j, err := in.job(cmd.Flags(), found)
	if err != nil {
		return err
	}
	data, err := in.system.encode(j)
	if err != nil {
		return cli.WrapUsage(err)
	}
	if in.print {
		_, err = cmd.OutOrStdout().Write(data)
		return err
	}
	if err := in.tellVariables(cmd.ErrOrStderr(), found, j); err != nil {
		return err
	}
	if err := in.write(ctx, found, data); err != nil {
		return err
	}
	return in.report(cmd)
}

// job returns what the service runs.
func (in *installation) job(flags *pflag.FlagSet, found *config.Config) (*job, error) {
	file, err := filepath.Abs(found.File)
	if err != nil {
		return nil, fmt.Errorf("locate %s: %w", found.File, err)
	}
	found.File = file
	addr, _ := flags.GetString("addr") // serve has the flag
	host, port, err := net.SplitHostPort(addr)
	switch {
	case err != nil || port == "0":
		return nil, cli.Usagef("--addr is %q; a service needs HOST:PORT with a fixed port, so that clients find it", addr)
	case !netaddr.IsLoopback(host):
		return nil, cli.Usagef("--addr %s can be reached from other machines; have the service serve this machine only, behind a proxy with TLS (docs/operations.md)", addr)
	}
	program, err := findProgram(cli.Program())
	if err != nil {
		return nil, err
	}
	j := &job{Command: append(program, "serve", "--config", file), Folder: filepath.Dir(file), Variables: variables()}
	args, err := setFlags(flags)
	if err != nil {
		return nil, err
	}
	j.Command = append(j.Command, args...)
	if _, is := in.system.(*systemd); !is { // whose journal takes standard error
		j.Log = in.system.log()
		j.Command = append(j.Command, "--log-file", j.Log)
		return j, nil
	}
	settings, err := owner.SettingsDir()
	j.Secrets = filepath.Join(settings, "service.env")
	return j, err
}

// findProgram makes the program of a command line an absolute path.
func findProgram(line []string) ([]string, error) {
	path, err := exec.LookPath(line[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return nil, fmt.Errorf("a service needs an installed program: %w; see docs/install.md", err)
	}
	return append([]string{path}, line[1:]...), nil
}

// setFlags returns the flags of serve that the user gave, with absolute paths.
func setFlags(flags *pflag.FlagSet) (args []string, err error) {
	flags.Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "config", "print", "json":
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			if f.Name == "token-file" {
				var failed error
				value, failed = filepath.Abs(value)
				err = errors.Join(err, failed)
			}
			args = append(args, "--"+f.Name+"="+value)
		}
	})
	return args, err
}

// variables returns the variables that decide which programs and which files serve finds.
func variables() (list []string) {
	for _, name := range []string{"PATH", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "TOOLPOST_VAULT"} {
		if value := os.Getenv(name); value != "" {
			list = append(list, name+"="+value)
		}
	}
	return list
}

// tellVariables names the variables that the configuration needs and the service lacks.
func (in *installation) tellVariables(w io.Writer, found *config.Config, j *job) error {
	names := found.Variables()
	if os.Getenv(owner.TokenVariable) != "" {
		names = append(names, owner.TokenVariable)
	}
	where := "Put them in a file that \"envFile\" of the servers names, or keep them with toolpost secret set"
	if j.Secrets != "" {
		given, err := os.ReadFile(j.Secrets)
		if info, missing := os.Stat(j.Secrets); missing == nil && info.Mode().Perm()&0o077 != 0 {
			err = fmt.Errorf("others can read it; run: chmod 600 %s", cleartext.ShellWord(j.Secrets))
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("read the variables of the service: %s: %w", j.Secrets, err)
		}
		names = slices.DeleteFunc(names, func(name string) bool { return strings.Contains("\n"+string(given), "\n"+name+"=") })
		where = "Write NAME=VALUE lines to " + j.Secrets + ", which only you may read, and run this command again"
	}
	if len(names) > 0 {
		fmt.Fprintln(w, cleartext.Printable(fmt.Sprintf("The service does not have these variables of the configuration: %s. %s.", strings.Join(names, ", "), where)))
	}
	return nil
}

// startTime is how long the service has to serve. A program of npx is downloaded first.
const startTime = time.Minute

// write writes the description, starts the service and waits until it serves.
func (in *installation) write(ctx context.Context, found *config.Config, data []byte) error {
	before := owner.FindRun(found)
	if before != nil && in.system.state(ctx) != running && !exists(in.system.file()) {
		return fmt.Errorf("toolpost serve runs at %s already (process %d); end it first", before.URL, before.PID)
	}
	if exists(in.system.file()) {
		endLeft(in.system, servingRun(ctx))
	}
	path, err := recordFile()
	if err != nil {
		return err
	}
	raw, err := json.Marshal(record{Config: found.File})
	if err != nil {
		return err
	}
	for _, file := range []struct {
		path string
		data []byte
	}{{path, raw}, {in.system.file(), data}} {
		if err := os.MkdirAll(filepath.Dir(file.path), 0o700); err != nil {
			return err
		}
		if err := atomicfile.Write(file.path, file.data, nil); err != nil {
			return fmt.Errorf("write %s: %w", file.path, err)
		}
	}
	begin := time.Now()
	if err := in.system.start(ctx); err != nil {
		return fmt.Errorf("start the service: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTime, fmt.Errorf("the service does not serve after %v; its log: %s", startTime, in.system.log()))
	defer cancel()
	return in.await(ctx, found, begin)
}

// await waits until the service serves that was started at begin.
func (in *installation) await(ctx context.Context, found *config.Config, begin time.Time) error {
	const pause = 100 * time.Millisecond
	for {
		if run := owner.FindRun(found); run != nil && run.Started.After(begin) && answers(ctx, run) {
			return nil
		}
		if in.system.state(ctx) == stopped {
			return fmt.Errorf("the service ended at once; its log: %s", in.system.log())
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (in *installation) report(cmd *cobra.Command) error {
	r := describe(cmd.Context(), in.system)
	if in.json {
		return cli.WriteJSON(cmd.OutOrStdout(), r)
	}
	if err := r.show(cmd.OutOrStdout()); err != nil {
		return err
	}
	if hint := in.system.hint(cmd.Context()); hint != "" {
		fmt.Fprintln(cmd.ErrOrStderr(), hint)
	}
	return nil
}
