//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// options are those of a run.
type options struct {
	cells    string
	rounds   int
	duration time.Duration
	rest     time.Duration // before memory is measured the last time
	calls    int
	toolpost string
	root     string
	peers    string
	raw      string
	doc      string
	profile  string
	sessions int
	costs    string // file

	instructions string // file

	update bool
	json   bool
	sdk    bool
	both   bool
}

// A bench measures cells.
type bench struct {
	options
	choice   choice
	subjects []*subject
	self     string // this program
	folder   string // of all processes
	upstream map[string]*process
	address  map[string]string // of the upstream, by era
	failed   map[string]error  // subjects that did not start
}

func (o *options) run(ctx context.Context) error {
	b, err := newBench(ctx, o)
	defer b.close()
	if err != nil {
		return err
	}
	if o.sessions > 0 {
		return b.idle(ctx, os.Stdout)
	}
	if o.costs != "" {
		return b.checkCosts(ctx, os.Stdout)
	}
	if o.instructions != "" {
		return b.checkInstructions(ctx, os.Stdout)
	}
	r := &report{began: time.Now(), rounds: o.rounds, duration: o.duration}
	var table bytes.Buffer
	out := io.MultiWriter(os.Stdout, &table)
	r.start(out)
	for _, c := range b.choice.cells() {
		found, err := b.measure(ctx, c)
		if err != nil {
			return err
		}
		r.add(out, found)
	}
	if o.doc != "" {
		var reached bytes.Buffer
		writeAims(&reached, r.results)
		if err := errors.Join(replaceTable(o.doc, hopTable, table.String()), replaceTable(o.doc, aimsTable, reached.String())); err != nil {
			return err
		}
	}
	return r.write(o.raw)
}

// newBench builds Toolpost and finds the subjects. The caller closes the bench,
// even if there is an error.
func newBench(ctx context.Context, o *options) (*bench, error) {
	b := &bench{options: *o, upstream: map[string]*process{}, address: map[string]string{}, failed: map[string]error{}}
	return b, b.prepare(ctx)
}

func (b *bench) prepare(ctx context.Context) (err error) {
	if b.self, err = os.Executable(); err != nil {
		return err
	}
	if b.folder, err = os.MkdirTemp("", "hop-"); err != nil {
		return err
	}
	b.subjects = ours(b.self)
	if b.toolpost != "" && b.profile != "" {
		return errors.New("-profile needs a build of its own; leave -toolpost out and give -root")
	}
	debug := b.toolpost == "" && (b.profile != "" || b.sessions > 0 || b.costs != "")
	if b.toolpost == "" {
		b.toolpost = filepath.Join(b.folder, "toolpost")
		if err := build(ctx, b.root, b.toolpost, debug); err != nil {
			return err
		}
	}
	built, err := parseBinaries(b.toolpost)
	if err != nil {
		return err
	}
	for _, s := range built {
		s.debug = debug
	}
	b.subjects = append(b.subjects, built...)
	if b.peers != "" {
		b.subjects = append(b.subjects, peers(b.peers)...)
	}
	var names []string
	for _, s := range b.subjects {
		if !slices.Contains(names, s.name) {
			names = append(names, s.name)
		}
	}
	b.choice, err = parseChoice(b.cells, names)
	return err
}

func (b *bench) close() {
	for _, p := range b.upstream {
		p.stop()
	}
	if b.folder != "" {
		_ = os.RemoveAll(b.folder)
	}
}

// server returns the upstream of an era, which is started once if it serves HTTP.
func (b *bench) server(kind, era string) (server, error) {
	if kind == "stdio" {
		return server{Command: b.self, Args: []string{"-role", "upstream", "-era", era}}, nil
	}
	if b.upstream[era] == nil {
		address, err := freeAddress()
		if err != nil {
			return server{}, err
		}
		command := []string{b.self, "-role", "upstream", "-era", era, "-address", address}
		if b.json {
			command = append(command, "-json")
		}
		p, err := start(filepath.Join(b.folder, "upstream-"+era), nil, command...)
		if err != nil {
			return server{}, err
		}
		b.upstream[era], b.address[era] = p, address
		err = p.until(readyTime, func() error {
			c, err := connect(address, "")
			if err == nil {
				c.Close()
			}
			return err
		})
		if err != nil {
			return server{}, err
		}
	}
	return server{URL: "http://" + b.address[era] + "/mcp", Type: "http"}, nil
}

// A result is what was measured of one subject in one cell.
type result struct {
	Cell     string  `json:"cell"`
	Size     string  `json:"size"`
	Clients  int     `json:"clients"`
	Era      string  `json:"era"`
	Subject  string  `json:"subject"`
	Upstream string  `json:"upstream"`
	Rounds   []*load `json:"rounds,omitempty"` // nil where a round failed
	Rest     float64 `json:"restMiB"`          // resident some time after the last round
	Error    string  `json:"error,omitempty"`  // why it is not measured
}

// measure measures a cell: in each round, all subjects take turns.
func (b *bench) measure(ctx context.Context, c cell) ([]*result, error) {
	subjects := b.chosen(c)
	results, all := make([]*result, len(subjects)), make([]*running, len(subjects))
	defer func() {
		for _, r := range all {
			if r != nil {
				r.stop()
			}
		}
	}()
	for i, s := range subjects {
		r := &result{Cell: c.String(), Size: c.size.name, Clients: c.clients, Era: c.era, Subject: s.name, Upstream: s.upstream}
		results[i] = r
		up, err := b.serverFor(s, c)
		if err != nil {
			return nil, err
		}
		if all[i], err = b.start(s, c.era, filepath.Join(b.folder, fmt.Sprint("subject", i)), up); err != nil {
			r.fail(err)
		}
	}
	for round := range b.rounds {
		for i, r := range all {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if r != nil && !b.round(ctx, r, c, round, results[i]) {
				r.stop() // it may take long to fail again
				all[i] = nil
			}
		}
	}
	if err := b.pause(ctx); err != nil {
		return nil, err
	}
	for i, r := range all {
		if r == nil || r.process == nil {
			continue
		}
		if mib, err := r.process.memory("VmRSS"); err == nil { // otherwise it has ended, which a round reports
			results[i].Rest = mib
		}
	}
	return results, nil
}

// pause waits until memory has been given back.
func (b *bench) pause(ctx context.Context) error {
	select {
	case <-time.After(b.rest):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// start starts a subject. What did not start is not tried again in that era.
func (b *bench) start(s *subject, era, folder string, up server) (*running, error) {
	key := s.String() + " " + era
	if err := b.failed[key]; err != nil {
		return nil, err
	}
	r, err := s.run(folder, era, up)
	if err != nil {
		b.failed[key] = err
		return nil, err
	}
	r.sdk = b.sdk
	return r, nil
}

// serverFor returns the upstream of a subject in a cell.
func (b *bench) serverFor(s *subject, c cell) (server, error) {
	if b.both || s.peer && c.era == statelessEra {
		return b.server(s.upstream, bothEras)
	}
	return b.server(s.upstream, c.era)
}

// round measures one subject once and reports whether that worked.
func (b *bench) round(ctx context.Context, r *running, c cell, round int, to *result) bool {
	var l *load
	err := b.profiled(ctx, r, c, round, func() (err error) {
		l, err = r.measure(c, b.duration, b.calls)
		return err
	})
	if err != nil {
		to.fail(err)
	}
	to.Rounds = append(to.Rounds, l)
	return err == nil
}

// fail records and prints the first error.
func (r *result) fail(err error) {
	if r.Error == "" {
		r.Error = err.Error()
		fmt.Fprintf(os.Stderr, "hop: %s: %s %s: %v\n", r.Cell, r.Subject, r.Upstream, err)
	}
}

// chosen returns the subjects of a cell. The proxy is always there: the ratios
// are to it.
func (b *bench) chosen(c cell) []*subject {
	var all []*subject
	for _, s := range b.subjects {
		chosen := b.choice.has("subject", s.name) && b.choice.has("upstream", s.upstream)
		if s.name == "proxy" || chosen && s.fits(c) {
			all = append(all, s)
		}
	}
	return all
}
