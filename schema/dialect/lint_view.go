package dialect

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/schema/internal/lower"
)

// A linter has the rules that one dialect demands, ready for a whole list of
// tools. It is for one goroutine.
type linter struct {
	*Dialect
	opts     *Options
	rules    []*Rule
	output   *linter // of output schemas, nil if the dialect has no rules for them
	namer    *namer
	propName *regexp.Regexp // of properties, nil for any
	verdicts map[*Rule]verdict
}

// A verdict is what all findings of a rule have in common.
type verdict struct {
	id     string
	effect Effect
	off    string
}

func newLinter(d *Dialect, rules []*Rule, opts *Options) *linter {
	l := &linter{Dialect: d, opts: opts, propName: d.patterns().properties, verdicts: map[*Rule]verdict{}}
	server := ""
	if opts != nil {
		server = opts.Server
	}
	l.namer = d.namer(server)
	l.rules = slices.DeleteFunc(slices.Clone(rules), func(r *Rule) bool { return !r.Demanded(d) })
	if !isUnrestricted(&d.form.Output.Rules) {
		of := &Dialect{ID: d.ID, form: form{Input: d.form.Output.Rules}}
		l.output = newLinter(of, slices.DeleteFunc(slices.Clone(rules), func(r *Rule) bool { return r.All }), nil)
	}
	return l
}

// tool returns what is wrong with t.
func (l *linter) tool(t *toolpost.Tool) []Finding {
	v := &view{linter: l, subject: t, collect: true}
	for _, v.rule = range l.rules {
		if run := v.rule.check.tool; run != nil {
			run(v, t)
		}
	}
	v.text(t.Description)
	raw := []byte("{}")
	if t.Input != nil {
		raw = t.Input.Raw()
	}
	if t.Input != nil || !l.form.Input.Root.OmitEmpty {
		v.base = "/inputSchema"
		v.schema(inspect(raw), true)
	}
	return v.found
}

// list returns what is wrong with tools as a whole.
func (l *linter) list(tools []*toolpost.Tool) []Finding {
	v := &view{linter: l, collect: true}
	for _, v.rule = range l.rules {
		if run := v.rule.check.list; run != nil {
			run(v, tools)
		}
	}
	return v.found
}

// fits reports whether the input schema of t breaks no rule: adapting leaves
// its bytes as they are. Descriptions inside it are not looked at; those that a
// dialect does not take are rewritten each by itself. It allocates no findings
// and ends at the first breach: make one linter for a list of tools.
func (l *linter) fits(t *toolpost.Tool) bool {
	return t.Input != nil && l.accepts(t.Input.Raw())
}

// fitsOutput is fits for the output schema; without one, it fits. Dropping
// and poison are reported by Output.Drop and Output.Object, not here.
func (l *linter) fitsOutput(t *toolpost.Tool) bool {
	return t.Output == nil || l.output == nil || l.output.accepts(t.Output.Raw())
}

func (l *linter) accepts(raw []byte) bool {
	d := inspect(raw)
	if l.form.Input.Dialect == "openapi" && d.root != nil && !inCapitals(d.root.Get("type")) {
		return false // readers take both, but adapting writes types as the dialect does
	}
	v := &view{linter: l}
	v.schema(d, false)
	return !v.broken
}

func inCapitals(v *jsontree.Value) bool { return v == nil || v.Text == strings.ToUpper(v.Text) }

// isUnrestricted reports whether rules restrict nothing.
func isUnrestricted(rules *lower.Rules) bool { return reflect.DeepEqual(*rules, lower.Rules{}) }

// A view is what the checks see of one tool, and where they report.
type view struct {
	*linter
	subject  *toolpost.Tool // the tool, nil for the list
	base     string         // where the schema is in the definition
	rule     *Rule
	doc      *document
	node     *node    // nil outside of schemas
	reported []string // keywords of the node that rules have reported
	found    []Finding
	collect  bool // record all breaches; otherwise the first one is enough
	broken   bool
}

// schema runs the checks of schemas over d, and those of texts if asked.
func (v *view) schema(d *document, texts bool) {
	v.doc = d
	for _, v.rule = range v.rules {
		if run := v.rule.check.document; run != nil {
			run(v, d)
		}
	}
	for _, n := range d.nodes {
		v.node, v.reported = n, v.reported[:0]
		for _, v.rule = range v.rules {
			if run := v.rule.check.schema; run != nil {
				run(v, n)
			}
			if v.broken && !v.collect {
				return
			}
		}
		if text := n.Get("description"); texts && text != nil && text.Kind == jsontree.KindString {
			v.text(text.Text)
		}
	}
}

func (v *view) text(text string) {
	for _, v.rule = range v.rules {
		if run := v.rule.check.text; run != nil {
			run(v, text)
		}
	}
}

// report records a breach at a keyword of the current schema.
func (v *view) report(keyword, format string, args ...any) {
	pointer := v.base
	if v.collect && v.node != nil {
		pointer += v.node.pointer()
	}
	v.add(pointer, keyword, format, args...)
}

// reportText records a breach in the current description.
func (v *view) reportText(format string, args ...any) {
	if v.node == nil {
		v.add("/description", "", format, args...)
		return
	}
	v.report("description", format, args...)
}

// add records a breach anywhere in the definition.
func (v *view) add(pointer, keyword, format string, args ...any) {
	v.broken = true
	if !v.collect || v.rule.rest && slices.Contains(v.reported, keyword) {
		return
	}
	verdict, known := v.verdicts[v.rule]
	if !known {
		verdict.id = v.rule.ID(v.Dialect)
		verdict.effect, verdict.off = v.rule.EffectFor(v.Dialect), v.opts.off(verdict.id)
		v.verdicts[v.rule] = verdict
	}
	v.reported = append(v.reported, keyword) // also if the rule is off: no other rule repeats it
	name := ""
	if v.subject != nil {
		name = v.subject.Name
	}
	v.found = append(v.found, Finding{name, verdict.id, verdict.effect, pointer, keyword, fmt.Sprintf(format, args...), verdict.off, v.subject})
}
