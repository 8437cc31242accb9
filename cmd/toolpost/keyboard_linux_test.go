package main

import (
	"io"
	"sync"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// startOnTerminal starts a program whose input and output are a terminal of its own.
func startOnTerminal(ts *testscript.TestScript, _ bool, args []string) {
	keys, screen, err := openTerminal()
	ts.Check(err)
	b := prepare(ts, args)
	b.keys, b.cmd.Stdin, b.cmd.Stdout, b.cmd.Stderr = keys, screen, screen, screen
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(b, keys) }) // until nobody has the terminal open
	b.start(ts, args[0], func() {
		_ = screen.Close()
		reading.Wait()
		_ = keys.Close()
	})
}

func typeLine(ts *testscript.TestScript, _ bool, args []string) {
	_, err := io.WriteString(find(ts, args[0]).keys, args[1]+"\n")
	ts.Check(err)
}

func pressInterrupt(ts *testscript.TestScript, _ bool, args []string) {
	_, err := io.WriteString(find(ts, args[0]).keys, "\x03")
	ts.Check(err)
}
