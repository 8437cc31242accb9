package owner

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/policy/trust"
)

// A Review is what a user needs to decide whether a configuration file may be used.
type Review struct {
	File   string // its absolute path
	cfg    *config.Config
	store  *trust.Store
	before *trust.Approval // of an earlier content; nil if there is none
}

// NewReview returns the review of a configuration that was read from a file.
func NewReview(cfg *config.Config) (*Review, error) {
	store, err := trust.Open()
	if err != nil {
		return nil, err
	}
	r := &Review{cfg: cfg, store: store}
	if r.File, err = trust.Locate(cfg.File); err != nil {
		return nil, err
	}
	r.before, _ = store.Lookup(r.File) // an approval that cannot be read is none; the next one replaces it
	return r, nil
}

// Approved reports whether the content has been approved.
func (r *Review) Approved() bool { return r.before != nil && r.before.Digest == r.cfg.Digest }

// ApprovedBefore reports whether another content of the file was approved.
func (r *Review) ApprovedBefore() bool { return r.before != nil && !r.Approved() }

// State describes why the content is not approved.
func (r *Review) State() string {
	if r.before != nil {
		return "has changed since you approved it"
	}
	return "is not approved yet"
}

// Approve remembers the content that was read. A later change of the file does
// not count, even one that was made while the user was being asked.
func (r *Review) Approve() error {
	a := &trust.Approval{File: r.File, Digest: r.cfg.Digest, Servers: map[string]string{}, Time: time.Now().UTC()}
	for _, s := range r.cfg.Describe() {
		a.Servers[s.Name] = s.Digest
	}
	if err := r.store.Approve(a); err != nil {
		return fmt.Errorf("%w; to use the file without an approval, name it with --config %s", err, cleartext.ShellWord(r.File))
	}
	return nil
}

// Text describes what the file runs, contacts and sends. Of a file that was
// approved before, only what has changed since is described in full.
func (r *Review) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s.\n", cleartext.Printable(r.File), r.State())
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
				fmt.Fprintf(&b, "\n  %s  [removed]\n", cleartext.Printable(name))
			}
		}
	}
	if len(same) > 0 {
		fmt.Fprintf(&b, "\n  As you approved them: %s\n", strings.Join(same, ", "))
	}
	return b.String()
}

// change marks a server that differs from the approved content.
func (r *Review) change(s *config.Description) string {
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
