// Package upgrade is the command "upgrade": it replaces the program by that of the newest
// release, if it was unpacked from an archive, and otherwise says how to upgrade it.
package upgrade

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// releases is the address below which the files of releases are.
const releases = "https://github.com/toolpost/toolpost/releases"

//go:embed signers.txt
var signers []byte

// Command returns the command "upgrade".
func Command() *cobra.Command {
	u := &upgrade{address: releases, signers: signers}
	var check bool
	cmd := &cobra.Command{
		Use:   "upgrade",
		Short: "Replace this program by the newest release",
		Long: `Replace this program by that of the newest release, if it was unpacked from an
archive of a release. Where a package manager installed it, say which command
upgrades it.

The checksums of a release are signed. The archive is used only if its checksum
is among them and the signature is by a key that this program contains. An older
release is never installed.`,
		Example: `  toolpost upgrade
  toolpost upgrade --check`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			program, err := os.Executable()
			if err != nil {
				return err
			}
			if program, err = filepath.EvalSymlinks(program); err != nil {
				return err
			}
			u.program, u.version = program, cli.ReadBuild().Version
			return u.run(cmd.Context(), cmd.OutOrStdout(), check)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&check, "check", false, "only print whether there is a newer release")
	u.change = cli.AddChangeFlag(cmd)
	f.StringVar(&u.address, "from", releases, "`ADDRESS` of the releases, for a copy of them")
	return cmd
}

// An upgrade replaces a program.
type upgrade struct {
	address string // of the releases
	signers []byte // whose signatures count
	program string // the file
	version string // of the program
	change  *cli.Change
}

// run replaces the program, or only looks whether there is a newer one.
func (u *upgrade) run(ctx context.Context, out io.Writer, check bool) error {
	current, err := parseVersion(u.version)
	if err != nil {
		return fmt.Errorf("this program is not one of a release (%s); install a release, or build it again", u.version)
	}
	how := installer(u.program)
	if u.change.Run = how; how != "" && !check {
		fmt.Fprintf(out, "A package manager installed this program. To upgrade it, run\n\n  %s\n", how)
		return nil
	}
	r, err := u.newest(ctx)
	if err != nil {
		return fmt.Errorf("look for a newer release: %w", err)
	}
	u.change.Version = fmt.Sprintf("v%s", r.version)
	switch {
	case !current.less(r.version):
		u.change.Run = ""
		fmt.Fprintf(out, "toolpost %s is the newest release.\n", u.version)
		return nil
	case check:
		if how == "" {
			how = "toolpost upgrade"
		}
		u.change.Run = how
		fmt.Fprintf(out, "toolpost v%s is there; this is %s. To upgrade, run\n\n  %s\n", r.version, u.version, how)
		return nil
	}
	program, err := u.download(ctx, r)
	if err != nil {
		return fmt.Errorf("download toolpost v%s: %w", r.version, err)
	}
	if err := replace(u.program, program); err != nil {
		return fmt.Errorf("replace the program: %w", err)
	}
	u.change.Done("toolpost")
	fmt.Fprintf(out, "Upgraded %s from %s to v%s.\n", u.program, u.version, r.version)
	return nil
}

// installer returns the command that upgrades a program where a package manager
// installed it; none if it was unpacked by hand.
func installer(program string) string {
	upgrade, _ := managed(program)
	return upgrade
}

// Remover returns the command that removes a program.
func Remover(program string) string {
	_, remove := managed(program)
	if remove == "" {
		remove = "rm " + cleartext.ShellWord(program)
		if runtime.GOOS == "windows" {
			remove = "del " + `"` + program + `"`
		}
	}
	return remove
}

// managed returns the commands of the package manager that installed a program.
func managed(program string) (upgrade, remove string) {
	path := filepath.ToSlash(program)
	for _, manager := range []struct{ part, upgrade, remove string }{
		{"/_npx/", "npx toolpost@latest", "npm cache clean --force    # with the packages of other programs of npx"},
		{"/node_modules/@toolpost/", "npm install --global toolpost@latest", "npm uninstall --global toolpost"},
		{"/uv/tools/", "uv tool upgrade toolpost", "uv tool uninstall toolpost"},
		{"/uv/archive-", "uvx toolpost@latest", "uv cache clean toolpost"},
		{"/pipx/", "pipx upgrade toolpost", "pipx uninstall toolpost"},
		{"/Cellar/", "brew upgrade toolpost", "brew uninstall toolpost"},
		{"/WinGet/", "winget upgrade Toolpost.Toolpost", "winget uninstall Toolpost.Toolpost"},
	} {
		if strings.Contains(path, manager.part) {
			return manager.upgrade, manager.remove
		}
	}
	folder := filepath.Dir(program)
	switch {
	case exists(filepath.Join(filepath.Dir(folder), "pyvenv.cfg")):
		return "python -m pip install --upgrade toolpost", "python -m pip uninstall toolpost"
	case runtime.GOOS == "linux" && path == "/usr/bin/toolpost" && exists("/var/lib/dpkg/info/toolpost.list"):
		return "apt install ./toolpost_VERSION_" + runtime.GOARCH + ".deb    # from " + releases + "/latest", "apt purge toolpost"
	case path == "/toolpost": // only in our images
		return "docker pull ghcr.io/toolpost/toolpost", "docker rmi ghcr.io/toolpost/toolpost"
	}
	return "", ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// get returns what is at an address below that of the releases, if it has at most the
// given number of bytes.
func (u *upgrade) get(ctx context.Context, path string, most int64) ([]byte, error) {
	address := strings.TrimSuffix(u.address, "/") + "/" + path
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = time.Minute
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", address, resp.Status)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	if err == nil && int64(len(data)) > most {
		err = errors.New(address + " is too long")
	}
	return data, err
}
