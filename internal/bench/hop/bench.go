//go:build linux

package main

import (
	"context"
	"fmt"
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
	calls    int
	toolpost string
	root     string
	peers    string
	raw      string
	profile  string
	sessions int
	json     bool
	sdk      bool
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
	r := &report{began: time.Now(), rounds: o.rounds, duration: o.duration}
	r.start(os.Stdout)
	for _, c := range b.choice.cells() {
		found, err := b.measure(ctx, c)
		if err != nil {
			return err
		}
		r.add(os.Stdout, found)
	}
	return r.write(o.raw)
}

// newBench builds Toolpost and finds the subjects. The caller closes the bench,
// even if there is an error.
func newBench(ctx context.Context, o *options) (*bench, error) {
	b := &bench{options: *o, upstream: map[string]*process{}, address: map[string]string{}}
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
	debug := b.toolpost == "" && (b.profile != "" || b.sessions > 0)
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
	var results []*result
	var all []*running
	defer func() {
		for _, r := range all {
			if r != nil {
				r.stop()
			}
		}
	}()
	for i, s := range b.chosen(c) {
		r := &result{Cell: c.String(), Size: c.size.name, Clients: c.clients, Era: c.era, Subject: s.name, Upstream: s.upstream}
		results = append(results, r)
		era := c.era
		if s.peer && era == statelessEra {
			era = bothEras
		}
		up, err := b.server(s.upstream, era)
		if err != nil {
			return nil, err
		}
		running, err := s.run(filepath.Join(b.folder, fmt.Sprint("subject", i)), c.era, up)
		if err != nil {
			r.Error = err.Error()
			fmt.Fprintf(os.Stderr, "hop: %s: %s: %v\n", c, s, err)
		}
		if running != nil {
			running.sdk = b.sdk
		}
		all = append(all, running)
	}
	for round := range b.rounds {
		for i, r := range all {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if r == nil {
				continue
			}
			var l *load
			err := b.profiled(ctx, r, c, round, func() (err error) {
				l, err = r.measure(c, b.duration, b.calls)
				return err
			})
			if err != nil { // the other subjects go on
				if results[i].Error == "" {
					fmt.Fprintf(os.Stderr, "hop: %s: %s: %v\n", c, r.subject, err)
				}
				results[i].Error = err.Error()
			}
			results[i].Rounds = append(results[i].Rounds, l)
		}
	}
	return results, rest(all, results)
}

// rest records what is resident after all rounds.
func rest(all []*running, results []*result) error {
	for i, r := range all {
		if r == nil || r.process == nil {
			continue
		}
		if mib, err := r.process.memory("VmRSS"); err == nil { // otherwise it has ended, which a round reports
			results[i].Rest = mib
		}
	}
	return nil
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
