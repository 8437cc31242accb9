package checks

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/lint"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/suggest"
	"github.com/toolpost/toolpost/schema/dialect"
)

// lintOptions are the flags of lint.
type lintOptions struct {
	connect.Target
	targets []string
	server  string
	off     []string
	failOn  string
	format  string
	json    bool // the same as the format json
	verbose bool
	fix     bool
	diff    bool
	rules   bool
	explain string
}

// Lint returns the command "lint".
func Lint() *cobra.Command {
	o := &lintOptions{}
	cmd := &cobra.Command{
		Use:   "lint [FILE | ADDRESS] [-- COMMAND…]",
		Short: "Check tools against what each client and model accepts",
		Long: `Check tools against what each client and model accepts. For each problem, show
what happens there and how to fix it.

Without --for, lint checks all targets except the opt-in ones: strict modes,
draft-07, and claude-desktop, whose rules come from one report. With --for all,
it checks these too.

Levels: an error loses a tool, makes a request fail or breaks a call; a warning
loses a part of a tool; a note is anything else.

Exit codes: 0 if there is no finding at or above --fail-on, 1 if there is one or
the server's tools could not be read, 2 if the command line, the file or the
configuration is wrong.
` + sourceHelp,
		Example: `  toolpost lint -- npx -y @modelcontextprotocol/server-everything
  toolpost lint --for claude-code,gemini tools.json
  toolpost lint --format github --off 'description-length=we know' tools.json
  toolpost lint --fix --for gemini-schema tools.json > adapted.json
  toolpost lint --explain no-union`,
		RunE: o.run,
	}
	o.AddFlags(cmd)
	addTargetFlags(cmd, &o.targets, &o.server)
	completeTargets(cmd, "all\tevery target")
	f := cmd.Flags()
	f.StringArrayVar(&o.off, "off", nil, "switch a rule off, as `RULE=REASON`; RULE is an id, a glob such as '*/pattern', or a name; may be repeated")
	f.StringVar(&o.failOn, "fail-on", "error", "exit with 1 if a finding has `LEVEL` or above: error, warning, note or never")
	f.StringVar(&o.format, "format", "text", "`FORMAT` of the findings: "+strings.Join(lint.Formats(), ", "))
	f.BoolVarP(&o.verbose, "verbose", "v", false, "show everything: notes, every place, the evidence")
	f.BoolVar(&o.fix, "fix", false, "write the tools adapted to the one target, as the result of tools/list")
	f.BoolVar(&o.diff, "diff", false, "show the tools before and after adapting to the one target")
	f.BoolVar(&o.rules, "rules", false, "list the rules")
	f.StringVar(&o.explain, "explain", "", "explain `RULE`")
	cli.AddJSONFlag(cmd, &o.json)
	cli.Exclusive(cmd, "format", "json")
	cli.Exclusive(cmd, "fix", "diff", "rules", "explain")
	for _, other := range []string{"fix", "diff", "rules", "explain"} { // which look for no findings
		for _, flag := range []string{"off", "fail-on", "format", "json"} {
			cli.Exclusive(cmd, other, flag)
		}
	}
	cli.CompleteFlag(cmd, "explain", ruleNames)
	cli.CompleteFlag(cmd, "off", ruleNames)
	cli.CompleteFlag(cmd, "fail-on", failLevels)
	cli.CompleteFlag(cmd, "format", lint.Formats)
	return cmd
}

func failLevels() (names []string) {
	for l := lint.Error; l <= lint.Never; l++ {
		names = append(names, l.String())
	}
	return names
}

func (o *lintOptions) run(cmd *cobra.Command, args []string) error {
	if o.json {
		o.format = "json"
	}
	write := lint.Format(o.format)
	switch {
	case write == nil:
		return cli.Usagef("--format %q: want one of %s", o.format, strings.Join(lint.Formats(), ", "))
	case o.limit() < 0:
		return cli.Usagef("--fail-on %q: want one of %s", o.failOn, strings.Join(failLevels(), ", "))
	case o.rules:
		return lint.WriteRules(cmd.OutOrStdout())
	case o.explain != "":
		return explainRule(cmd.OutOrStdout(), o.explain)
	}
	src, err := readSource(cmd, &o.Target, args)
	if err != nil {
		return err
	}
	if o.fix || o.diff {
		return o.adapt(cmd, src)
	}
	targets, skipped, err := o.chooseTargets(src)
	if err != nil {
		return err
	}
	off, err := switchedOff(o.off, targets)
	if err != nil {
		return err
	}
	r := lint.New(src, targets, &dialect.Options{Server: o.server, Off: off})
	r.Unasked = skipped
	if err := write(cmd.OutOrStdout(), r, &lint.Options{Limit: o.limit(), Verbose: o.verbose, Version: cli.ReadBuild().Version}); err != nil {
		return err
	}
	if n := r.Failing(o.limit()); n > 0 {
		return fmt.Errorf("%s at or above %s", terminal.Count(n, "finding"), o.limit())
	}
	return nil
}

// limit is the level of --fail-on, negative if there is none of that name.
func (o *lintOptions) limit() lint.Level { return lint.Level(slices.Index(failLevels(), o.failOn)) }

// chooseTargets returns the targets to look at, and those that are left out because
// they hold only for who asks for them.
func (o *lintOptions) chooseTargets(src *lint.Source) (targets, unasked []*dialect.Dialect, err error) {
	if slices.Contains(o.targets, "all") {
		return src.Book.All(), nil, nil
	}
	if len(o.targets) > 0 {
		targets, err = findTargets(src.Book, o.targets)
		return targets, nil, err
	}
	for _, d := range src.Book.All() {
		if isOnRequest(d) {
			unasked = append(unasked, d)
		} else {
			targets = append(targets, d)
		}
	}
	return targets, unasked, nil
}

// isOnRequest reports whether d holds only for those who choose it: a mode that is
// switched on for tools that fit, an old draft, rules that one person reported.
func isOnRequest(d *dialect.Dialect) bool {
	return d.HasStrict() || d.ID == "draft-07" || d.ID == "claude-desktop"
}

// switchedOff returns the ids of findings that flags switch off, with the
// reason that is given first.
func switchedOff(flags []string, targets []*dialect.Dialect) (map[string]string, error) {
	off := map[string]string{}
	for _, flag := range flags {
		key, reason, _ := strings.Cut(flag, "=")
		if key = strings.TrimSpace(key); strings.TrimSpace(reason) == "" {
			return nil, cli.Usagef("--off %s: give the reason too: --off '%s=REASON'", key, key)
		}
		known := false
		for _, r := range dialect.Rules() {
			for _, d := range targets {
				id := r.ID(d)
				if ok, err := path.Match(key, id); ok && err == nil || key == r.Name {
					off[id], known = cmp.Or(off[id], strings.TrimSpace(reason)), true
				}
			}
		}
		if !known {
			return nil, cli.Usagef("--off %s: these targets have no such rule; %s", key, didYouMean(key))
		}
	}
	return off, nil
}

// explainRule writes the explanation of a rule: RULE or TARGET/RULE. It returns
// an error if the rule or the target does not exist.
func explainRule(w io.Writer, name string) error {
	if !slices.Contains(ruleNames(), name[strings.Index(name, "/")+1:]) {
		return cli.Usagef("there is no rule %q; %s", name, didYouMean(name))
	}
	if target, _, ok := strings.Cut(name, "/"); ok && target != "all" {
		book, err := bookOf(nil)
		if err != nil {
			return err
		}
		if _, err := findTargets(book, []string{target}); err != nil {
			return err
		}
	}
	return lint.Explain(w, name)
}

func didYouMean(rule string) string {
	_, name, ok := strings.Cut(rule, "/")
	if !ok {
		name = rule
	}
	if near := suggest.Names(name, ruleNames(), 3); len(near) > 0 {
		return "did you mean " + strings.Join(near, " or ") + "?"
	}
	return `"toolpost lint --rules" lists them`
}

func ruleNames() (names []string) {
	for _, r := range dialect.Rules() {
		names = append(names, r.Name)
	}
	return names
}
