//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// idle opens sessions and leaves them, and reports what they hold.
func (b *bench) idle(ctx context.Context, out io.Writer) error {
	fmt.Fprintln(out, "| subject | opened | still open | resident MiB before, after | KiB a session, resident | KiB a session, heap and stacks | goroutines before, after |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|")
	for i, s := range b.subjects {
		if s.command == nil || s.name == "proxy" || s.whole || s.upstream != "http" || !b.choice.has("subject", s.name) {
			continue
		}
		up, err := b.server(s.upstream, sessionEra)
		if err != nil {
			return err
		}
		r, err := s.run(filepath.Join(b.folder, fmt.Sprint("idle", i)), sessionEra, up)
		if err != nil {
			return err
		}
		line, err := b.abandon(ctx, r)
		r.stop()
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		fmt.Fprintln(out, line)
	}
	return nil
}

// perAddress is how many sessions come from one address of loopback: gateways
// limit what one address may open.
const perAddress = 250

// abandon opens sessions and closes their connections. What they hold is measured when
// memory has been given back.
func (b *bench) abandon(ctx context.Context, r *running) (string, error) {
	if err := b.pause(ctx); err != nil {
		return "", err
	}
	before, err := r.holding(ctx)
	if err != nil {
		return "", err
	}
	clients := make([]*client, b.sessions)
	if err := parallel(ctx, b.sessions, func(i int) (err error) {
		clients[i], err = dial(r.endpoint, fmt.Sprintf("127.0.%d.%d", 1+i/perAddress/250, 1+i/perAddress%250))
		switch {
		case err == nil:
			clients[i].abandon()
		case strings.Contains(err.Error(), "status 503"): // no more than there may be
			return nil
		}
		return err
	}); err != nil {
		return "", err
	}
	clients = slices.DeleteFunc(clients, func(c *client) bool { return c == nil })
	if err := b.pause(ctx); err != nil {
		return "", err
	}
	after, err := r.holding(ctx)
	if err != nil {
		return "", err
	}
	if b.profile != "" && r.debug != "" {
		if err := savePage(ctx, r.debug, "heap", filepath.Join(b.profile, "sessions.pprof")); err != nil {
			return "", err
		}
	}
	open, err := stillOpen(ctx, clients)
	if err != nil {
		return "", err
	}
	each := func(bytes float64) string { return fmt.Sprintf("%.1f", bytes/1024/float64(max(open, 1))) }
	line := fmt.Sprintf("| %s | %d | %d | %.0f, %.0f | %s |", r.name, len(clients), open, before.resident/(1<<20), after.resident/(1<<20), each(after.resident-before.resident))
	if r.debug == "" {
		return line + " | |", nil
	}
	return line + fmt.Sprintf(" %s | %d, %d |", each(after.live-before.live), before.goroutines, after.goroutines), nil
}

// stillOpen counts the sessions that the server still knows.
func stillOpen(ctx context.Context, clients []*client) (int, error) {
	var mu sync.Mutex
	open := 0
	err := parallel(ctx, len(clients), func(i int) error {
		c := clients[i]
		fresh, err := connect(c.host, c.conn.from)
		if err != nil {
			return err
		}
		c.conn = fresh
		defer c.abandon()
		if _, err := c.ask("ping", "{}"); err == nil {
			mu.Lock()
			open++
			mu.Unlock()
		}
		return nil
	})
	return open, err
}

// parallel calls f for 0 to n-1, a few at a time.
func parallel(ctx context.Context, n int, f func(i int) error) error {
	const workers = 4
	var group sync.WaitGroup
	errs := make([]error, workers)
	for w := range workers {
		group.Go(func() {
			for i := w; i < n && errs[w] == nil; i += workers {
				if errs[w] = ctx.Err(); errs[w] == nil {
					errs[w] = f(i)
				}
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}

// A holding is what a process holds: the resident memory, and if it can be
// looked into, heap and stacks after a collection, and goroutines.
type holding struct {
	resident   float64 // bytes
	live       float64
	goroutines int
}

func (r *running) holding(ctx context.Context) (h holding, err error) {
	mib, err := r.process.memory("VmRSS") // before the collection, which brings pages back
	if err != nil {
		return h, err
	}
	h.resident = mib * (1 << 20)
	if r.debug != "" {
		heap, err := debug(ctx, r.debug, "heap?debug=1&gc=1")
		if err != nil {
			return h, err
		}
		for _, name := range []string{"# HeapAlloc = ", "# Stack = "} {
			_, after, _ := bytes.Cut(heap, []byte(name))
			line, _, _ := strings.Cut(string(after[:min(len(after), 80)]), "\n")
			number, _, _ := strings.Cut(line, " / ")
			n, err := strconv.ParseFloat(number, 64)
			if err != nil {
				return h, fmt.Errorf("no %sin the profile of the heap", name)
			}
			h.live += n
		}
		goroutines, err := debug(ctx, r.debug, "goroutine?debug=1")
		if err != nil {
			return h, err
		}
		if _, err := fmt.Sscanf(string(goroutines), "goroutine profile: total %d", &h.goroutines); err != nil {
			return h, err
		}
	}
	return h, nil
}
