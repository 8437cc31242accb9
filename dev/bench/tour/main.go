// Command tour runs the first hour of a new user with the built toolpost and real
// servers, and writes what the terminal showed to docs/evidence/tour.md:
//
//	go run ./dev/bench/tour
//
// It needs the servers that "make live" installs. Times, folders and ports are
// replaced, so that two runs write the same.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/toolpost/toolpost/internal/cleartext"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "tour:", err)
		os.Exit(1)
	}
}

// programs are the servers of the tour, by the folder of an installed package.
var programs = map[string]string{
	"mcp-server-everything":          "server-everything-*/node_modules/.bin",
	"mcp-server-filesystem":          "server-filesystem-*/node_modules/.bin",
	"mcp-server-memory":              "server-memory-*/node_modules/.bin",
	"mcp-server-sequential-thinking": "server-sequential-thinking-*/node_modules/.bin",
	"context7-mcp":                   "context7-mcp-*/node_modules/.bin",
	"playwright-mcp":                 "mcp-[0-9]*/node_modules/.bin",
	"mcp-server-time":                "pypi-mcp-server-time-*/bin",
	"mcp-server-sqlite":              "pypi-mcp-server-sqlite-*/bin",
}

// A tour is one run of the story.
type tour struct {
	ctx  context.Context
	home string
	doc  bytes.Buffer
}

func run() error {
	home, err := os.MkdirTemp("", "tour-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	ctx, cancel := context.WithTimeout(context.Background(), 15*time.Minute)
	defer cancel()
	t := &tour{ctx: ctx, home: home}
	if err := t.install(); err != nil {
		return err
	}
	if err := t.story(); err != nil {
		return err
	}
	return os.WriteFile("docs/evidence/tour.md", t.doc.Bytes(), 0o644)
}

// install builds toolpost and puts it and the servers into a folder of programs.
func (t *tour) install() error {
	bin := filepath.Join(t.home, "bin")
	for _, dir := range []string{bin, filepath.Join(t.home, "notes"), filepath.Dir(t.desktopFile())} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	build := exec.CommandContext(t.ctx, "go", "build", "-o", filepath.Join(bin, "toolpost"), "./cmd/toolpost")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build toolpost: %w\n%s", err, out)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	for name, pattern := range programs {
		found, _ := filepath.Glob(filepath.Join(cache, "toolpost-live", pattern, name))
		if len(found) == 0 {
			return fmt.Errorf("%s is not installed; run: make live", name)
		}
		if err := t.link(found[len(found)-1], filepath.Join(bin, name)); err != nil {
			return err
		}
	}
	return t.packageRunner()
}

// packageRunner makes an npx that runs the one package that the tour adds by name
// as it is installed: the real one would fetch the newest version.
func (t *tour) packageRunner() error {
	bin := filepath.Join(t.home, "bin")
	const script = "#!/bin/sh\n[ \"$1 $2\" = '-y @modelcontextprotocol/server-sequential-thinking@latest' ] || exit 1\nexec %q\n"
	return os.WriteFile(filepath.Join(bin, "npx"), fmt.Appendf(nil, script, filepath.Join(bin, "mcp-server-sequential-thinking")), 0o755)
}

// link makes a program callable by its name alone. One of Python is run by the
// interpreter beside it, because its first line names the folder of its installation.
func (t *tour) link(program, name string) error {
	python := filepath.Join(filepath.Dir(program), "python")
	if _, err := os.Stat(python); err != nil {
		return os.Symlink(program, name)
	}
	return os.WriteFile(name, fmt.Appendf(nil, "#!/bin/sh\nexec %q %q \"$@\"\n", python, program), 0o755)
}

func (t *tour) desktopFile() string {
	return filepath.Join(t.home, ".config", "Claude", "claude_desktop_config.json")
}

// file is the configuration that import writes.
func (t *tour) file() string { return filepath.Join(t.home, "toolpost.json") }

// paragraph writes a paragraph.
func (t *tour) paragraph(text string) { t.doc.WriteString(text + "\n\n") }

// slow is what doctor reports of a server if the machine is busy.
const slow = "server-slow"

// show runs a command line in the home folder and writes it and what it printed.
// The exit code must be the expected one.
func (t *tour) show(code int, args ...string) error {
	var cmd *exec.Cmd
	var out []byte
	var err error
	for again := 5; again > 0 && (cmd == nil || bytes.Contains(out, []byte(slow))); again-- {
		cmd = t.command(args...)
		out, err = cmd.CombinedOutput()
	}
	if bytes.Contains(out, []byte(slow)) {
		return fmt.Errorf("%s: servers are slow to start; run the tour when the machine is not busy\n%s", strings.Join(args, " "), out)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		return fmt.Errorf("%s ended with %d, want %d: %v\n%s", strings.Join(args, " "), got, code, err, out)
	}
	t.screen(t.plain(commandLine(args)), out)
	return nil
}

// commandLine returns a command as a person types it, in several lines if it is long.
func commandLine(args []string) string {
	line, width := "", 0
	for i, arg := range args {
		if strings.ContainsAny(arg, " '\"$*()") {
			arg = cleartext.ShellWord(arg)
		}
		switch {
		case i == 0:
		case width+len(arg) > longestLine-10:
			line, width = line+" \\\n    ", 0
		default:
			line += " "
		}
		line += arg
		width += len(arg) + 1
	}
	return line
}

// command returns a command line that sees only the new user's home.
func (t *tour) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.ctx, filepath.Join(t.home, "bin", args[0]), args[1:]...)
	cmd.Dir = t.home
	cmd.Env = []string{
		"HOME=" + t.home, "PATH=" + filepath.Join(t.home, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
		"LANG=C.UTF-8", "COLUMNS=80", "TOOLPOST_VAULT=files", "XDG_CONFIG_HOME=" + filepath.Join(t.home, ".config"),
	}
	return cmd
}

func (t *tour) screen(line string, out []byte) {
	text := strings.TrimRight(t.plain(string(out)), "\n")
	fmt.Fprintf(&t.doc, "```\n$ %s\n%s\n```\n\n", line, text)
}

// replaced maps a pattern of what differs between runs to the text in its place.
var replaced = map[string]string{
	`127\.0\.0\.1:\d+`:       "127.0.0.1:7717",
	`\b\d+(\.\d)? s\b`:       "0.5 s",
	`\d\d:\d\d:\d\d`:         "12:00:00",
	`linked/[0-9a-f]{64}`:    "linked/…",
	`up \d+s`:                "up 5s",
	`\b\d+s ago`:             "0s ago",
	`toolpost \S*(devel)\S*`: "toolpost (devel)",
}

// duration is a time that a call took, with the space before it.
var duration = regexp.MustCompile(` *\b\d+(\.\d)? ms\b`)

// longestLine is the length at which lines are cut, in characters.
const longestLine = 110

// plain returns a text as every run shows it.
func (t *tour) plain(text string) string {
	text = strings.ReplaceAll(text, t.home, "~")
	for pattern, instead := range replaced {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, instead)
	}
	text = duration.ReplaceAllStringFunc(text, func(s string) string { return strings.Repeat(" ", max(0, len(s)-len("5 ms"))) + "5 ms" })
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, " \n")
		if characters := []rune(line); len(characters) > longestLine {
			line = string(characters[:longestLine-1]) + "…"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// write writes a file of the user, and its content to the document if shown is set.
func (t *tour) write(path, text string, shown bool) error {
	if shown {
		fmt.Fprintf(&t.doc, "```jsonc\n%s\n```\n\n", strings.TrimRight(t.plain(text), "\n"))
	}
	return os.WriteFile(path, []byte(text), 0o600)
}

// replace changes the configuration.
func (t *tour) replace(old, new string) error {
	data, err := os.ReadFile(t.file())
	if err != nil {
		return err
	}
	if !bytes.Contains(data, []byte(old)) {
		return fmt.Errorf("%s does not contain %s", t.file(), old)
	}
	return os.WriteFile(t.file(), bytes.Replace(data, []byte(old), []byte(new), 1), 0o600)
}

// serve starts the gateway, and returns its address when all servers have answered.
func (t *tour) serve() (address string, stop func(), err error) {
	cmd := t.command("toolpost", "serve", "--addr", "127.0.0.1:0", "--config", t.file())
	log, err := os.Create(filepath.Join(t.home, "serve.log"))
	if err != nil {
		return "", nil, err
	}
	cmd.Stderr = log
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait() // it ends by the signal
		_ = log.Close()
	}
	served := regexp.MustCompile(`url=(http://\S+)/mcp`)
	for address == "" && t.ctx.Err() == nil {
		data, _ := os.ReadFile(log.Name())
		if m := served.FindSubmatch(data); m != nil {
			address = string(m[1])
		}
	}
	return address, stop, t.ready(address)
}

// ready waits until no server is connecting.
func (t *tour) ready(address string) error {
	for t.ctx.Err() == nil {
		out, err := t.command("toolpost", "top", "--json", address).Output()
		var s struct{ Servers []struct{ State string } }
		if err != nil || json.Unmarshal(out, &s) != nil {
			continue
		}
		waiting := false
		for _, server := range s.Servers {
			waiting = waiting || server.State == "connecting" || server.State == "installing"
		}
		if !waiting && len(s.Servers) > 0 {
			return nil
		}
	}
	return context.Cause(t.ctx)
}
