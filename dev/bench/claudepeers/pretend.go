package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// realCLI is the variable that names the command that pretend starts.
const realCLI = "CLAUDEPEERS_CLI"

// pretend is a claude command of tomorrow: the real one, which also writes a
// message of a new type after its first init.
func pretend() int {
	cmd := exec.Command(os.Getenv(realCLI), os.Args[1:]...)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	lines := bufio.NewReader(out)
	for told := false; ; {
		line, err := lines.ReadBytes('\n')
		if _, failed := os.Stdout.Write(line); failed != nil || err != nil {
			break
		}
		if !told && bytes.Contains(line, []byte(`"subtype":"init"`)) {
			told = true
			fmt.Println(`{"type":"something_new","detail":{"n":1}}`)
		}
	}
	_, _ = io.Copy(io.Discard, out) // nobody reads it any more
	err = cmd.Wait()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}
