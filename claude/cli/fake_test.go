package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolpost/toolpost/claude/cli"
)

// This test binary is also the command that is run: FAKE_CLI says how it
// behaves.
func TestMain(m *testing.M) {
	if mode := os.Getenv("FAKE_CLI"); mode != "" {
		fake(mode)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func fake(modes string) {
	for _, mode := range strings.Split(modes, ",") {
		name, value, _ := strings.Cut(mode, "=")
		number, _ := strconv.Atoi(value)
		switch name {
		case "echo":
			io.Copy(os.Stdout, os.Stdin)
		case "say":
			fmt.Printf("{\"said\":%q}\n", value)
		case "pid":
			fmt.Printf("{\"pid\":%d}\n", os.Getpid())
		case "env":
			fmt.Printf("{\"env\":%q}\n", os.Environ())
		case "dir":
			wd, _ := os.Getwd()
			fmt.Printf("{\"dir\":%q,\"pwd\":%q}\n", wd, os.Getenv("PWD"))
		case "stderr":
			fmt.Fprintln(os.Stderr, value)
		case "garbage":
			fmt.Printf("hello\n\n[1,2]\r\n\ufeff{\"a\":1}\r\n  {\"b\":2} \nnull\n{\"c\":3}")
		case "huge":
			w := bufio.NewWriterSize(os.Stdout, 1<<16)
			w.WriteString(`{"huge":"`)
			for chunk := bytes.Repeat([]byte("x"), 1<<16); number > 0; number -= len(chunk) {
				w.Write(chunk[:min(number, len(chunk))])
			}
			w.WriteString("\"}\n")
			w.Flush()
		case "deaf": // does not end at SIGTERM
			signal.Ignore(syscall.SIGTERM)
		case "child": // a process that holds all pipes, and ends with SIGKILL only
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "FAKE_CLI=deaf,pid,hang")
			cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
			if cmd.Start() != nil {
				os.Exit(99)
			}
		case "stranger": // one that has left the group
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), "FAKE_CLI=pid,hang")
			cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if cmd.Start() != nil {
				os.Exit(99)
			}
		case "start": // a command of its own, through the package
			p, err := cli.Start(context.Background(), &cli.Options{Path: os.Args[0], Env: []string{"FAKE_CLI=pid,hang"}})
			if err != nil {
				os.Exit(98)
			}
			line, _ := p.ReadLine()
			fmt.Printf("%s\n", line)
		case "eof":
			io.Copy(io.Discard, os.Stdin)
		case "hang":
			for {
				time.Sleep(time.Hour)
			}
		case "crash":
			os.Exit(number)
		}
	}
}

func start(t *testing.T, mode string, opts cli.Options) *cli.Process {
	t.Helper()
	opts.Path = os.Args[0]
	opts.Env = append([]string{"FAKE_CLI=" + mode}, opts.Env...)
	if opts.Grace == 0 {
		opts.Grace = time.Minute // what should not need it does not get it
	}
	p, err := cli.Start(t.Context(), &opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}
