//go:build !linux

package main

import "github.com/rogpeppe/go-internal/testscript"

func startOnTerminal(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("only on Linux") }

func typeLine(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("only on Linux") }

func pressInterrupt(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("only on Linux") }

func pressKeys(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("only on Linux") }
