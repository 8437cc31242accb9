//go:build linux

// Command soak runs the built "toolpost serve" under clients of both protocol
// eras for a while and disturbs its servers. It checks that each answer, question
// and notification belongs to the call that it reaches, and that memory, goroutines
// and descriptors of the gateway stay flat.
//
//	go build -o toolpost ./cmd/toolpost && go run ./dev/soak -toolpost ./toolpost -time 10m
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"time"
)

func main() {
	if len(os.Args) > 1 && (os.Args[1] == "upstream" || os.Args[1] == "hostile") {
		if err := serveStdio(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	var o options
	flag.StringVar(&o.toolpost, "toolpost", "toolpost", "the command to run")
	flag.DurationVar(&o.time, "time", 10*time.Minute, "how long")
	flag.IntVar(&o.clients, "clients", 200, "how many clients at a time")
	flag.StringVar(&o.page, "doc", "", "the document whose table is written, and the plot beside it")
	flag.Parse()
	if err := soak(&o); err != nil {
		fmt.Fprintln(os.Stderr, "FAIL:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	toolpost string
	time     time.Duration
	clients  int
	page     string // "" writes no document
}

// soak runs everything and returns what is wrong.
func soak(o *options) error {
	dir, err := os.MkdirTemp("", "soak-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	restarted, undisturbed, hostile := serveHTTP(false), serveHTTP(true), serveHostileHTTP()
	defer restarted.Close()
	defer undisturbed.Close()
	defer hostile.Close()
	g, err := startGateway(o.toolpost, dir, &addresses{web: restarted.URL, steady: undisturbed.URL, hostile: hostile.URL})
	if err != nil {
		return err
	}
	defer g.stop()
	starting, end := context.WithTimeout(context.Background(), time.Minute)
	defer end()
	if err := awaitTools(starting, g.url); err != nil {
		return fmt.Errorf("await the tools of all servers: %w", err)
	}
	r := &run{options: o, tally: newTally()}
	if err := askOnce(starting, g.url, r.tally); err != nil {
		return fmt.Errorf("ask once before there are several clients: %w", err)
	}
	if r.idle, err = g.measure(); err != nil {
		return err
	}
	r.samples = r.load(g, restarted)
	problems := append(r.tally.problems(), g.exited()...)
	problems = append(problems, r.verdict(g)...)
	report(os.Stdout, r, problems)
	if o.page != "" {
		if err := writePage(r, problems); err != nil {
			return err
		}
	}
	return errors.Join(problems...)
}

// A run is one run of the command and what it measured.
type run struct {
	*options
	tally   *tally
	idle    sample // before the first client
	samples []sample
	after   sample // after the last client has left
}

// load runs the clients until the time is over.
func (r *run) load(g *process, w *webServer) []sample {
	// Without a deadline: one would end dials before it ends ctx, and so look as if the
	// gateway had not answered.
	ctx, end := context.WithCancel(context.Background())
	defer time.AfterFunc(r.time, end).Stop()
	l := &load{url: g.url, calls: 20, patience: time.Minute, provoked: 2 * time.Second, stuck: 40 * time.Second, think: 200 * time.Millisecond, t: r.tally}
	var all sync.WaitGroup
	for i := range r.clients {
		all.Go(func() { runClient(ctx, l, i) })
	}
	all.Go(func() { disturb(ctx, g.pid, w, r.tally) })
	samples := watch(ctx, g, r.time/200)
	all.Wait()
	return samples
}

// verdict returns how the gateway has grown during the run, and what it still holds
// after all clients have left.
func (r *run) verdict(g *process) (problems []error) {
	if r.time >= leastTime {
		problems = judge(r.samples)
	}
	for until := time.Now().Add(max(sessionTimeout, parkTime) + time.Minute); ; {
		var err error
		if r.after, err = g.measure(); err != nil {
			return append(problems, err)
		}
		held := r.held()
		if held == nil {
			return problems
		}
		if time.Now().After(until) {
			return append(problems, held...)
		}
		pause(context.Background(), time.Second)
	}
}
