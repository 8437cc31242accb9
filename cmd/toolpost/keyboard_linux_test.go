package main

import (
	"io"
	"sync"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toolpost/toolpost/dev/screen"
)

// startOnTerminal starts a program whose input and output are a terminal of its own.
func startOnTerminal(ts *testscript.TestScript, _ bool, args []string) {
	keys, slave, err := screen.Open(100, 50)
	ts.Check(err)
	b := prepare(ts, args)
	b.keys, b.cmd.Stdin, b.cmd.Stdout, b.cmd.Stderr = keys, slave, slave, slave
	b.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(b, keys) }) // until nobody has the terminal open
	b.start(ts, args[0], func() {
		_ = slave.Close()
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

func pressKeys(ts *testscript.TestScript, _ bool, args []string) {
	_, err := io.WriteString(find(ts, args[0]).keys, args[1])
	ts.Check(err)
}
