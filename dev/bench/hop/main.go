//go:build linux

// Command hop measures what a hop through Toolpost costs, beside a direct call,
// a bare reverse proxy and a naive aggregator made with the MCP SDK. Toolpost is
// the built command with default settings, each of them a process of its own;
// they take turns within one run. See "make bench-hop" and docs/evidence/performance.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "hop:", err)
		os.Exit(1)
	}
}

func run() error {
	var o options
	flag.StringVar(&o.cells, "cells", "", "measure only these `CELLS`, such as 1KB,c32,2025,http,toolpost")
	flag.IntVar(&o.rounds, "rounds", 5, "`ROUNDS` of each cell, of which the medians are reported")
	flag.DurationVar(&o.duration, "duration", 2*time.Second, "`TIME` of one round of one subject")
	flag.DurationVar(&o.rest, "rest", 7*time.Second, "`TIME` after the last round, until memory is measured; Toolpost gives it back within six seconds")
	flag.IntVar(&o.calls, "calls", 0, "at most `CALLS` of one client in one round, 0 for no limit")
	flag.StringVar(&o.toolpost, "toolpost", "", "compare these builds, `[NAME=]FILE,...`, instead of one of the checkout")
	flag.StringVar(&o.root, "root", "../../..", "`FOLDER` of the checkout to build Toolpost from")
	flag.StringVar(&o.peers, "peers", "", "also measure the peers that install.sh has put into `FOLDER`")
	flag.StringVar(&o.raw, "raw", "", "write all rounds as JSON to `FILE`")
	flag.StringVar(&o.doc, "doc", "", "replace the table in the document `FILE`")
	flag.StringVar(&o.profile, "profile", "", "write CPU profiles of Toolpost to `FOLDER`, one for each cell")
	flag.IntVar(&o.sessions, "sessions", 0, "open and abandon `N` sessions instead, and report what they hold")
	flag.BoolVar(&o.json, "json", false, "the HTTP upstream answers with JSON, not with an event stream")
	flag.BoolVar(&o.sdk, "sdk", false, "call with clients of the MCP SDK, which decode every answer, instead of lean ones")
	flag.BoolVar(&o.both, "both", false, "the upstream speaks both eras, of which a gateway may use another one than its client")
	flag.StringVar(&o.costs, "costs", "", "compare what a call costs with the figures in `FILE` instead: allocations, system calls, bytes")
	flag.StringVar(&o.instructions, "instructions", "", "compare the instructions of a call with those in `FILE` instead; needs valgrind, and takes a minute")
	flag.BoolVar(&o.update, "update", false, "write the figures of -costs or -instructions instead")
	role := flag.String("role", "", "what this process is, for the benchmark itself: upstream, proxy or naive")
	era := flag.String("era", sessionEra, "protocol `VERSION` of a role")
	address := flag.String("address", "", "`HOST:PORT` that a role serves at; the upstream serves standard input and output without one")
	target := flag.String("upstream", "", "`URL` of a role's upstream")
	flag.Parse()
	if *role != "" {
		return play(*role, *era, *address, *target, o.json)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return o.run(ctx)
}

// play serves as one of the subjects, or as the upstream of all of them.
func play(role, era, address, target string, asJSON bool) error {
	var h http.Handler
	var err error
	switch role {
	case "upstream":
		u := newUpstream(era, asJSON)
		if address == "" {
			return u.serveStdio()
		}
		h = u
	case "proxy":
		h, err = newProxy(target)
	case "naive":
		h, err = newNaive(context.Background(), era, target, flag.Args())
	default:
		err = errors.New("-role is upstream, proxy or naive")
	}
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	return http.Serve(l, h)
}
