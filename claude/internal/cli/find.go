package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// install is how the command gets where [Find] looks.
const install = "npm install -g @anthropic-ai/claude-code"

// A NotFoundError reports that the claude command was not found.
type NotFoundError struct {
	Looked []string // the searched places
}

func (e *NotFoundError) Error() string {
	looked := strings.Join(e.Looked, ", ")
	if len(e.Looked) > 2 { // a line that a person can read; the field has them all
		looked = fmt.Sprintf("%s, and %d places where installers put it", e.Looked[0], len(e.Looked)-1)
	}
	return fmt.Sprintf("the claude command was not found; install it with %q, or set CLAUDE_CLI_PATH to its path; looked for %s", install, looked)
}

// Find returns the path of the claude command: path itself if it is not empty,
// otherwise $CLAUDE_CLI_PATH, otherwise the first that exists in PATH or where
// installers put it. It does not search the current folder, because a
// repository may contain a program called claude: name such a program with path
// or $CLAUDE_CLI_PATH.
func Find(path string) (string, error) {
	if path = cmp.Or(path, os.Getenv("CLAUDE_CLI_PATH")); path != "" {
		return findNamed(path)
	}
	looked := []string{"claude in PATH"}
	if found := lookPath("claude"); found != "" {
		return direct(found), nil
	}
	for _, place := range places() {
		if executable(place) == nil {
			return place, nil
		}
		looked = append(looked, place)
	}
	return "", &NotFoundError{looked}
}

// lookPath returns the program of that name in PATH, or "". It ignores folders
// of PATH that are relative or empty: these depend on the current folder.
func lookPath(name string) string {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found
		}
	}
	return ""
}

// findNamed finds the command that the user named: a path, or a name in PATH.
func findNamed(path string) (string, error) {
	if filepath.Base(path) == path && path != "." && path != ".." {
		if found := lookPath(path); found != "" {
			return direct(found), nil
		}
		if executable(path) == nil {
			return "", fmt.Errorf("find the claude command: %q is not in PATH; for the file in the current folder, write %q", path, "."+string(filepath.Separator)+path)
		}
		return "", &NotFoundError{[]string{path + " in PATH"}}
	}
	err := executable(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", &NotFoundError{[]string{path}}
	}
	if err != nil {
		return "", fmt.Errorf("run %q as the claude command: %w", path, err)
	}
	return filepath.Abs(direct(path))
}

// executable reports why a path cannot be run.
func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("it is a folder; name the file in it")
	case runtime.GOOS != "windows" && info.Mode()&0o111 == 0:
		return errors.New("it is not executable; allow it with chmod +x")
	}
	return nil
}

// direct returns the program that a script of npm for Windows runs: arguments
// with quotes do not pass such a script.
func direct(path string) string {
	if strings.EqualFold(filepath.Ext(path), ".cmd") {
		for _, program := range packagePrograms(filepath.Join(filepath.Dir(path), "node_modules")) {
			if executable(program) == nil {
				return program
			}
		}
	}
	return path
}

// places lists where installers put the command, the native one first. All
// are absolute, whatever the environment says.
func places() []string {
	program, script := "claude", "claude"
	if runtime.GOOS == "windows" {
		program, script = "claude.exe", "claude.cmd"
	}
	home, _ := os.UserHomeDir() // empty if there is none
	var all []string
	at := func(dir string, elements ...string) {
		if dir != "" {
			all = append(all, filepath.Join(append([]string{dir}, elements...)...))
		}
	}
	at(home, ".claude", "local", program)
	at(home, ".claude", "local", "node_modules", ".bin", script)
	at(home, ".local", "bin", program)
	for _, prefix := range prefixes(home) {
		at(prefix, script)
	}
	all = slices.DeleteFunc(all, func(place string) bool { return !filepath.IsAbs(place) })
	for i, place := range all {
		all[i] = direct(place)
	}
	return all
}

// prefixes lists the folders where npm, or another of its kind, puts commands.
func prefixes(home string) []string {
	if runtime.GOOS == "windows" {
		return []string{os.Getenv("NPM_CONFIG_PREFIX"), envPath("APPDATA", "npm"), os.Getenv("PNPM_HOME")}
	}
	all := []string{envPath("NPM_CONFIG_PREFIX", "bin"), envPath("npm_config_prefix", "bin"), os.Getenv("NVM_BIN"), os.Getenv("PNPM_HOME")}
	if home != "" {
		for _, dir := range []string{".npm-global/bin", ".npm-packages/bin", ".volta/bin", ".bun/bin", ".yarn/bin"} {
			all = append(all, filepath.Join(home, dir))
		}
		versions, _ := filepath.Glob(filepath.Join(home, ".nvm/versions/node/*/bin")) // the pattern is right
		slices.Reverse(versions)
		all = append(all, versions...)
	}
	return append(all, "/usr/local/bin", "/opt/homebrew/bin", "/usr/bin")
}

// packagePrograms lists the programs in a folder of npm's packages: that of the
// platform's package runs without Node, and without the scripts of installation.
func packagePrograms(modules string) []string {
	system, program := runtime.GOOS, "claude"
	if system == "windows" {
		system, program = "win32", "claude.exe"
	}
	cpu := runtime.GOARCH
	if cpu == "amd64" {
		cpu = "x64"
	}
	var all []string
	for _, c := range []string{"", "-musl"} {
		platform := filepath.Join("@anthropic-ai", "claude-code-"+system+"-"+cpu+c, program)
		all = append(all, filepath.Join(modules, platform), filepath.Join(modules, "@anthropic-ai", "claude-code", "node_modules", platform))
	}
	return all
}
