package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A bench runs every job in a process and a home of its own.
type bench struct {
	self, cli, python, dir string
}

func newBench(cli, python string) (*bench, error) {
	if cli == "" {
		return nil, errors.New("name the claude command with -cli; dev/live/install.sh installs it")
	}
	cli, err := filepath.Abs(cli)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(cli); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "claudepeers-")
	return &bench{self, cli, python, dir}, err
}

func (b *bench) close() { _ = os.RemoveAll(b.dir) } // it is in the temporary folder

// run has a library play a scenario.
func (b *bench) run(l library, s *scenario) (*outcome, *api, error) {
	home, err := os.MkdirTemp(b.dir, "home-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(home)
	path := filepath.Join(home, "bin")
	if err := errors.Join(os.Mkdir(path, 0o755), os.Mkdir(filepath.Join(home, "tmp"), 0o755)); err != nil {
		return nil, nil, err
	}
	link := b.cli
	if s.alien {
		link = b.self
	}
	if !s.path {
		if err := os.Symlink(link, filepath.Join(path, "claude")); err != nil {
			return nil, nil, err
		}
	}
	a := newAPI(s.model)
	defer a.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience+15*time.Second)
	defer cancel()
	file := filepath.Join(home, "outcome.json")
	command := []string{b.self, "-cli", b.cli, "work", l.name, s.name, file}
	if l.run == nil {
		if s.path {
			link = b.cli
		} else {
			link = filepath.Join(path, "claude")
		}
		if command, err = officialCommand(b.python, home, link, file, s); err != nil {
			return nil, nil, err
		}
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Env = home, append(b.environment(home, path, a.URL), s.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	said, err := cmd.CombinedOutput()
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what a library left behind
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		return &outcome{Err: fmt.Sprintf("the process ended: %v: %.200s", err, said)}, a, nil
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	o := &outcome{}
	return o, a, json.Unmarshal(data, o)
}

func (b *bench) environment(home, path, url string) []string {
	return []string{
		"PATH=" + path + ":/usr/bin:/bin", "HOME=" + home, "TMPDIR=" + filepath.Join(home, "tmp"), "CLAUDE_CONFIG_DIR=" + filepath.Join(home, ".claude"),
		realCLI + "=" + b.cli,
		"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=sk-ant-dummy", "CLAUDE_CODE_MAX_RETRIES=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1",
		"ENABLE_TOOL_SEARCH=false", // or the tools of the others are not offered
		"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1", "TERM=dumb", "LANG=C.UTF-8",
	}
}

// table plays everything and counts what fails with the first library.
func (b *bench) table(runs int, only string) (table string, failed int, err error) {
	libs := libraries()
	var t strings.Builder
	fmt.Fprint(&t, "| scenario |")
	for _, l := range libs {
		fmt.Fprintf(&t, " %s |", l.name)
	}
	fmt.Fprintf(&t, "\n|---|%s\n", strings.Repeat("---|", len(libs)))
	for _, s := range scenarios() {
		if only != "" && only != s.name {
			continue
		}
		fmt.Fprintf(&t, "| %s |", s.label)
		for i, l := range libs {
			o, a, err := b.run(l, s)
			if err != nil {
				return "", 0, fmt.Errorf("%s with %s: %w", s.name, l.name, err)
			}
			wrong := s.check(o, a)
			fmt.Fprintf(os.Stderr, "%s with %s: %s\n", s.name, l.name, wrong)
			if wrong != "" && i == 0 {
				failed++
			}
			fmt.Fprintf(&t, " %s |", cell(wrong))
		}
		fmt.Fprintln(&t)
	}
	if only != "" && only != "timing" {
		return t.String(), failed, nil
	}
	times, err := b.measure(libs, runs)
	return t.String() + times, failed, err
}

func cell(wrong string) string {
	if wrong == "" {
		return "ok"
	}
	wrong = strings.NewReplacer("\n", " ", "|", "/").Replace(wrong)
	if runes := []rune(wrong); len(runes) > 70 {
		wrong = string(runes[:69]) + "…"
	}
	return "**" + wrong + "**"
}

// measure runs the libraries in turn and compares the medians to those of ours.
func (b *bench) measure(libs []library, runs int) (string, error) {
	s := timing()
	starts, trips := make([][]time.Duration, len(libs)), make([][]time.Duration, len(libs))
	for n := range runs {
		for k := range libs {
			i := (n + k) % len(libs) // none is always the first
			o, a, err := b.run(libs[i], s)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(os.Stderr, "run %d with %s: %s\n", n+1, libs[i].name, s.check(o, a))
			if !a.first.IsZero() && !o.Began.IsZero() {
				starts[i] = append(starts[i], a.first.Sub(o.Began))
			}
			if s.check(o, a) == "" {
				trips[i] = append(trips[i], a.rounds...)
			}
		}
	}
	return row(fmt.Sprintf("start to the first request, median of %d runs", runs), starts) +
		row(fmt.Sprintf("a call of a tool and back, median of %d", runs*rounds), trips), nil
}

func row(label string, times [][]time.Duration) string {
	line := "| " + label + " |"
	ours := median(times[0])
	for i, all := range times {
		switch m := median(all); {
		case m == 0:
			line += " – |"
		case i == 0:
			line += fmt.Sprintf(" 1 (%s) |", m.Round(100*time.Microsecond))
		default:
			line += fmt.Sprintf(" %.2f × |", float64(m)/float64(ours))
		}
	}
	return line + "\n"
}

func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	all = slices.Sorted(slices.Values(all))
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}
