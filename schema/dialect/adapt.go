package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/internal/lower"
)

// Options are the optional parts of Adapt, Layer and Lint.
type Options struct {
	// Server is the name of the server in the client, which adds to the length
	// of tool names. "toolpost" if empty.
	Server string

	// Fit withholds the last tools of the list if there are more than the
	// reader accepts. Otherwise they are sent, and a finding reports it.
	Fit bool

	// Off contains the rules that are switched off, with the reason: by id, by
	// a glob of ids such as "*/pattern", or by the rule's name.
	Off map[string]string

	// Report is called after each listing of a Layer.
	Report func(*Adapted)
}

// Adapted is a list of tools in the form for one reader.
type Adapted struct {
	Dialect  *Dialect
	Tools    []*Tool
	Withheld []Withheld
	Findings []Finding // about the list as a whole: too many tools, too many tokens
	Tokens   int       // of all definitions, estimated
}

// A Tool is a tool in the form for one reader.
type Tool struct {
	// Tool is the adapted tool: its handler takes the adapted arguments, and
	// repairs what the schema of the original refuses and models often write.
	// Its Input is nil if the reader wants no schema for a tool without
	// arguments.
	*toolpost.Tool

	Original *toolpost.Tool // the tool before adapting
	Strict   bool           // strict mode may be switched on

	// Losses lists what was lost by adapting. Losses of the input schema come
	// first, each with its place in the original. Losses of the rest of the
	// definition follow, with the pointer "" and the keywords name, description
	// (Detail distinguishes it from that of the schema) and outputSchema.
	Losses []Loss

	codec    *lower.Codec
	shown    *schema.Schema // the schema that the reader sees, nil if it is not a JSON Schema
	counts   lower.Counts
	changed  bool     // the definition is not that of the original
	enforced bool     // arguments are checked even if the original is SkipValidation
	choosy   bool     // the schema of the original lists values
	reserved []string // members that the reader adds to arguments for itself
}

// InputSchema returns the schema of the tool's arguments for the reader. If Input is nil, the
// schema accepts any object.
func (t *Tool) InputSchema() json.RawMessage {
	if t.Input == nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	return t.Input.Raw()
}

// Changed reports whether the definition for the reader differs from that of
// the original.
func (t *Tool) Changed() bool { return t.changed }

// exact reports whether the definition for the reader says the same as the original.
func (t *Tool) exact() bool {
	return !slices.ContainsFunc(t.Losses, func(l Loss) bool { return !l.Kind.Exact() })
}

// Withheld is a tool that the reader does not receive.
type Withheld struct {
	Name string `json:"name"`
	Rule string `json:"rule"`
	Why  string `json:"why"`
}

// Adapt adapts tools as one list. A tool that cannot be adapted is withheld;
// the others are not affected.
func (d *Dialect) Adapt(tools []*toolpost.Tool, opts *Options) *Adapted {
	return d.adapt(tools, opts, nil)
}

// adapt takes from last what is still the same; nil has nothing.
func (d *Dialect) adapt(tools []*toolpost.Tool, opts *Options, last *Adapted) *Adapted {
	if opts == nil {
		opts = new(Options)
	}
	a := &Adapted{Dialect: d}
	l := newLinter(d, sharedRules(), opts)
	names := l.namer.names(tools)
	before := map[adaptKey]*Tool{}
	if last != nil {
		for _, t := range last.Tools {
			before[adaptKeyOf(t.Original)] = t
		}
	}
	for i, t := range tools {
		if names[i] == "" {
			rule, why := l.namer.refusal(t.Name)
			a.withhold(t.Name, rule, why)
			continue
		}
		if same := before[adaptKeyOf(t)]; same != nil && same.Name == names[i] {
			a.Tools = append(a.Tools, same.again(t))
		} else if adapted, why := l.adapt(t, names[i]); why != nil {
			a.withhold(t.Name, why.rule, why.text)
		} else {
			a.Tools = append(a.Tools, adapted)
		}
	}
	a.measure(opts)
	a.Findings = l.list(a.definitions())
	a.chooseStrict()
	return a
}

// An adaptKey is what the result of adapting a tool depends on.
type adaptKey struct {
	name, description string
	input, output     *schema.Schema
}

func adaptKeyOf(t *toolpost.Tool) adaptKey {
	return adaptKey{t.Name, t.Description, t.Input, t.Output}
}

// again returns t for another listing of the same tool, which layers may have
// copied.
func (t *Tool) again(original *toolpost.Tool) *Tool {
	a := *t
	a.Strict = false
	if original != t.Original {
		def := original.Definition
		def.Name, def.Description, def.Input, def.Output = t.Name, t.Description, t.Input, t.Output
		a.Original, a.Tool = original, a.tool(def, original.Policy)
	}
	return &a
}

// tool returns the toolpost.Tool that runs t.
func (t *Tool) tool(def toolpost.Definition, policy toolpost.Policy) *toolpost.Tool {
	policy.SkipValidation, policy.Approve = true, nil // the original does both, with its own arguments
	return &toolpost.Tool{Definition: def, Handler: t.call, Policy: policy}
}

// withhold leaves out a tool. The rule is an id, or the name of one of the
// dialect's own.
func (a *Adapted) withhold(tool, rule, why string) {
	if !strings.Contains(rule, "/") {
		rule = a.Dialect.ID + "/" + rule
	}
	a.Withheld = append(a.Withheld, Withheld{tool, rule, why})
}

// A refusal says why a tool is withheld.
type refusal struct{ rule, text string }

// definitions returns the tools that are listed.
func (a *Adapted) definitions() []*toolpost.Tool {
	all := make([]*toolpost.Tool, 0, len(a.Tools))
	for _, t := range a.Tools {
		if !t.Policy.Unlisted {
			all = append(all, t.Tool)
		}
	}
	return all
}

// adapt adapts one tool. A defect in doing so concerns only this one.
func (l *linter) adapt(t *toolpost.Tool, name string) (adapted *Tool, why *refusal) {
	defer func() {
		if p := recover(); p != nil {
			adapted, why = nil, &refusal{"all/internal", fmt.Sprintf("adapting the tool failed because of a defect in Toolpost: %v", p)}
		}
	}()
	if t.Input == nil {
		return nil, &refusal{"all/poison-root-type", `the tool has no input schema; write {"type":"object"} if it takes no arguments`}
	}
	a := &Tool{Original: t}
	def := t.Definition
	if err := l.input(a, &def); err != nil {
		return nil, &refusal{"size", "the adapted schema cannot be read: " + err.Error()}
	}
	for _, loss := range a.Losses {
		if loss.Kind == rejected {
			return nil, l.refuse(a, loss)
		}
	}
	def.Name = name
	if name != t.Name {
		a.lose(Loss{Keyword: "name", Kind: encoded, Detail: fmt.Sprintf("%q is called %q here", t.Name, name)})
	}
	var losses []Loss
	def.Description, losses = l.form.Text.tool(t.Name, t.Description)
	a.lose(losses...)
	l.results(a, &def)
	a.changed = def.Name != t.Name || def.Description != t.Description || def.Input != t.Input || def.Output != t.Output
	a.choosy = bytes.Contains(t.Input.Raw(), []byte(`"enum"`)) || bytes.Contains(t.Input.Raw(), []byte(`"const"`))
	a.reserved = l.form.Input.Object.Reserved
	a.Tool = a.tool(def, t.Policy)
	return a, nil
}

// refuse reports a loss that cannot be repaired: the schema is too large, or no
// object fits it.
func (l *linter) refuse(a *Tool, loss Loss) *refusal {
	why := &refusal{"all/unsatisfiable", loss.Detail}
	if loss.Pointer != "" {
		why.text = fmt.Sprintf("%s (%s at %s)", loss.Detail, loss.Keyword, loss.Pointer)
	}
	most := l.form.Input.Limits
	if !(&strictLimits{Properties: most.Properties, EnumValues: most.EnumValues, Runes: most.Runes}).holds(a.counts, 1) ||
		most.Bytes > 0 && a.counts.Bytes > most.Bytes {
		why.rule = "size"
		return why
	}
	untyped := func(f Finding) bool { return f.Rule == "all/poison-root-type" }
	if found := l.tool(a.Original); slices.ContainsFunc(found, untyped) {
		why.rule = "all/poison-root-type"
	}
	return why
}

func (a *Tool) lose(losses ...Loss) { a.Losses = append(a.Losses, losses...) }

// input lowers the input schema, unless the reader takes it as it is.
func (l *linter) input(a *Tool, def *toolpost.Definition) error {
	low := &lower.Result{Schema: def.Input.Raw(), Codec: &lower.Codec{}}
	if !l.fits(a.Original) {
		low = lower.Schema(def.Input, &l.form.Input)
	}
	a.codec = low.Codec
	if l.form.Strict != nil || l.form.Input.Limits != (lower.Limits{}) {
		a.counts = lower.CountsOf(low.Schema)
	}
	a.Losses = appendLosses(a.Losses, low.Losses)
	a.enforced = !a.exact() || !low.Codec.Identity()
	if low.Schema == nil {
		def.Input = nil
		return nil
	}
	raw, losses := l.form.Text.schema(low.Schema, def.Input.Raw())
	a.lose(losses...)
	var err error
	if def.Input, err = withRaw(def.Input, raw); l.Dialect.form.Input.Dialect != "openapi" {
		a.shown = def.Input
	}
	return err
}

// withRaw returns s if raw is what it is.
func withRaw(s *schema.Schema, raw []byte) (*schema.Schema, error) {
	if bytes.Equal(raw, s.Raw()) {
		return s, nil
	}
	return s.With(raw)
}

// results lowers the output schema. Results are sent as they are: a schema
// that some of them would not fit is left out.
func (l *linter) results(a *Tool, def *toolpost.Definition) {
	s := def.Output
	if s == nil {
		return
	}
	drop := func(why string) {
		def.Output = nil
		a.lose(Loss{Keyword: "outputSchema", Kind: dropped, Detail: why})
	}
	switch {
	case l.form.Output.Drop:
		drop("this reader accepts none")
		return
	case !s.IsObject(): // poison to strict clients
		drop("its type is not object")
		return
	}
	low := &lower.Result{Schema: s.Raw(), Codec: &lower.Codec{}}
	if !l.fitsOutput(a.Original) {
		low = lower.Schema(s, &l.form.Output.Rules)
	}
	raw, texts := l.form.Text.schema(low.Schema, s.Raw())
	lowered, err := withRaw(s, raw)
	if err != nil || !low.Codec.Identity() || narrows(low.Losses) {
		drop("this reader accepts it only in a shape that the results do not have")
		return
	}
	strict, repairs := StrictOutput(lowered, false)
	if strict == nil {
		drop(repairs[0].Detail)
		return
	}
	def.Output = strict
	for _, l := range slices.Concat(appendLosses(nil, low.Losses), texts, repairs) {
		a.lose(Loss{Keyword: "outputSchema", Kind: l.Kind, Detail: fmt.Sprintf("%s at %q: %s", l.Keyword, l.Pointer, l.Detail)})
	}
}

func narrows(losses []lower.Loss) bool {
	for _, l := range losses {
		if l.Kind == lower.Narrowed || l.Kind == lower.Rejected {
			return true
		}
	}
	return false
}

// Layer returns ts in the form for readers of the dialect. Calls reach the
// tools of ts with arguments for their own schemas; the Params of a call remain
// as the caller sent them. A tool for which the reader wants no schema gets the
// schema of an empty object. A tool that ts lists again unchanged is not
// adapted again.
func (d *Dialect) Layer(ts toolpost.Toolset, opts *Options) toolpost.Toolset {
	var last *Adapted
	return toolpost.Layer(ts, func(tools []*toolpost.Tool) ([]*toolpost.Tool, error) {
		a := d.adapt(tools, opts, last)
		last = a
		if opts != nil && opts.Report != nil {
			opts.Report(a)
		}
		all := make([]*toolpost.Tool, len(a.Tools))
		for i, t := range a.Tools {
			all[i] = t.Tool
			if t.Input == nil {
				with := *t.Tool
				with.Input = schema.MustParse(`{"type":"object","properties":{}}`)
				all[i] = &with
			}
		}
		return all, nil
	}, nil)
}
