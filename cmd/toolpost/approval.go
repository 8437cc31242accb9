package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/policy/trust"
	"github.com/toolpost/toolpost/internal/terminal"
)

// requireApproval returns nil if the user has approved this content of a file
// of the current folder, or does so now. It is remembered.
func requireApproval(ctx context.Context, p *cli.Prompter, file string, cfg *config.Config) error {
	r, err := newReview(file, cfg)
	if err != nil {
		return cli.Usagef("%w; to use the file without an approval, name it with --config %s", err, file)
	}
	switch {
	case r.approved():
		return nil
	case !p.Terminal:
		return cli.Usagef("%s %s, and there is no terminal to ask you; it decides which programs run and which addresses are contacted: "+
			"read it, then run \"toolpost trust\" in its folder, or name it with --config %s", r.file, r.state(), cli.Quote(r.file))
	}
	return r.ask(ctx, p)
}

// A review asks the user whether a configuration file may be used.
type review struct {
	file   string // its absolute path
	cfg    *config.Config
	store  *trust.Store
	before *trust.Approval // of an earlier content; nil if there is none
}

func newReview(file string, cfg *config.Config) (*review, error) {
	store, err := trust.Open()
	if err != nil {
		return nil, err
	}
	r := &review{cfg: cfg, store: store}
	if r.file, err = trust.Locate(file); err != nil {
		return nil, err
	}
	r.before, _ = store.Lookup(r.file) // an approval that cannot be read is none; the next one replaces it
	return r, nil
}

// approved reports whether the content has been approved.
func (r *review) approved() bool { return r.before != nil && r.before.Digest == r.cfg.Digest }

// state describes why the content is not approved.
func (r *review) state() string {
	if r.before != nil {
		return "has changed since you approved it"
	}
	return "is not approved yet"
}

// ask shows the file and remembers a yes; a no is an error.
func (r *review) ask(ctx context.Context, p *cli.Prompter) error {
	_, _ = io.WriteString(p.Out, warnIfLong(p.Out, r.text()))
	yes, err := p.Ask(ctx, "Do you know these programs and addresses? May toolpost use this file?")
	switch {
	case err != nil:
		return err
	case !yes:
		return cli.WrapUsage(errors.New("the configuration is not approved; nothing was started"))
	}
	return r.approve()
}

// approve remembers the content that was read. A later change of the file does
// not count, even one that was made while the user was being asked.
func (r *review) approve() error {
	a := &trust.Approval{File: r.file, Digest: r.cfg.Digest, Servers: map[string]string{}, Time: time.Now().UTC()}
	for _, s := range r.cfg.Describe() {
		a.Servers[s.Name] = s.Digest
	}
	if err := r.store.Approve(a); err != nil {
		return fmt.Errorf("%w; to use the file without an approval, name it with --config %s", err, cli.Quote(r.file))
	}
	return nil
}

// tooManyRows is more than some terminals keep to scroll back to.
const tooManyRows = 1000

// warnLong returns a warning if the beginning of a text has scrolled off the
// screen, otherwise "". One long argument is enough for that.
func warnLong(text string, width, height int) string {
	rows := 0
	for line := range strings.Lines(text) {
		rows += 1 + len(line)/max(width, 1) // at least as many as there are
	}
	switch {
	case rows > tooManyRows:
		return fmt.Sprintf("\nThese are about %d lines on the screen, which may not keep all of them; read the file itself.\n", rows)
	case rows+questionRows > height:
		return fmt.Sprintf("\nThese are about %d lines on the screen; scroll up to read all of them.\n", rows)
	}
	return ""
}

// questionRows is the height of the question after the text.
const questionRows = 2

// text describes what the file runs, contacts and sends. Of a file that was
// approved before, only what has changed since is described in full.
func (r *review) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s.\n", terminal.Printable(r.file), r.state())
	servers := r.cfg.Describe()
	if len(servers) == 0 {
		b.WriteString("It runs nothing and contacts nothing.\n")
	} else {
		b.WriteString("It makes toolpost run these programs as you, and contact these addresses:\n")
	}
	seen := map[string]bool{}
	var same []string
	for _, s := range servers {
		seen[s.Name] = true
		change := r.change(&s)
		if r.before != nil && change == "" {
			same = append(same, s.Name)
			continue
		}
		fmt.Fprintf(&b, "\n  %s%s\n", s.Name, change)
		for _, line := range s.Lines {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	if r.before != nil {
		for _, name := range slices.Sorted(maps.Keys(r.before.Servers)) {
			if !seen[name] {
				fmt.Fprintf(&b, "\n  %s  [removed]\n", terminal.Printable(name))
			}
		}
	}
	if len(same) > 0 {
		fmt.Fprintf(&b, "\n  As you approved them: %s\n", strings.Join(same, ", "))
	}
	return b.String()
}

// warnIfLong returns a text with a warning if it is longer than the screen of w.
func warnIfLong(w io.Writer, text string) string {
	width, height := terminal.Size(w)
	if width == 0 {
		width, height = 80, 24
	}
	return text + warnLong(text, width, height)
}

// change marks a server that differs from the approved content.
func (r *review) change(s *config.Description) string {
	if r.before == nil {
		return ""
	}
	switch digest, known := r.before.Servers[s.Name]; {
	case !known:
		return "  [new]"
	case digest != s.Digest:
		return "  [changed]"
	}
	return ""
}
