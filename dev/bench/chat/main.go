//go:build linux

// Command chat runs "toolpost chat --model demo" in a terminal, over a small
// folder, and writes the picture docs/chat.svg. Start it in the root of the
// repository:
//
//	go run ./dev/bench/chat
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/toolpost/toolpost/dev/screen"
)

const (
	columns = 92
	picture = "docs/chat.svg"
	limit   = time.Minute
)

// files are those of the folder that the demo looks at.
var files = map[string]string{
	"README.md":          "# Tide tables\n\nTimes of high and low water for small harbours.\n",
	"go.mod":             "module example.com/tides\n",
	"main.go":            "package main\n\n// TODO: harbours of the southern hemisphere\nfunc main() {}\n",
	"tide/tide.go":       "package tide\n",
	"tide/tide_test.go":  "package tide\n",
	"data/harbours.json": "[]\n",
}

// steps are what is typed once the terminal shows a text.
var steps = []struct{ shown, typed string }{
	{"Enter starts: ", "\r"},
	{"view all: ", "y"},
	{"price unknown", "/exit\r"},
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "chat:", err)
		os.Exit(1)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "chat")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "bin", "toolpost")
	if out, err := exec.Command("go", "build", "-o", program, "./cmd/toolpost").CombinedOutput(); err != nil {
		return fmt.Errorf("build toolpost: %w\n%s", err, out)
	}
	project := filepath.Join(dir, "tides")
	for name, text := range files {
		path := filepath.Join(project, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			return err
		}
	}
	output, err := talk(dir, project, program)
	if err != nil {
		return err
	}
	s := &canvas{width: columns}
	s.write("\x1b[2m$\x1b[0m toolpost chat --model demo\r\n" + regexp.MustCompile(`\b[0-9.]+ms\b`).ReplaceAllString(output, "2ms"))
	return os.WriteFile(picture, []byte(s.svg()), 0o644)
}

// talk runs the conversation and returns all that the terminal got.
func talk(home, project, program string) (string, error) {
	master, slave, err := screen.Open(columns, 50)
	if err != nil {
		return "", err
	}
	defer master.Close()
	cmd := exec.Command(program, "chat", "--model", "demo")
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = project, slave, slave, slave
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := errors.Join(cmd.Start(), slave.Close()); err != nil {
		return "", err
	}
	timeout := time.AfterFunc(limit, func() { _ = cmd.Process.Kill() })
	defer timeout.Stop()
	var output strings.Builder
	seen, step := 0, 0
	part := make([]byte, 4096)
	for {
		n, err := master.Read(part) // an error is the end: the program has closed the terminal
		output.Write(part[:n])
		if step < len(steps) && strings.Contains(output.String()[seen:], steps[step].shown) {
			seen = output.Len()
			if _, err := master.WriteString(steps[step].typed); err != nil {
				return "", err
			}
			step++
		}
		if err != nil {
			break
		}
	}
	if err := cmd.Wait(); err != nil || step < len(steps) {
		return "", fmt.Errorf("the conversation ended at step %d: %w\n%s", step, err, output.String())
	}
	return output.String(), nil
}
