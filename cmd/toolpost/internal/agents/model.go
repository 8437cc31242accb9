package agents

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/demo"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/anthropic"
	"github.com/toolpost/toolpost/model/claudecli"
	"github.com/toolpost/toolpost/model/gemini"
	"github.com/toolpost/toolpost/model/openai"
)

// A provider serves models.
type provider struct {
	name     string
	keys     []string // the variables of its key; the first that is set is used
	address  string   // the variable of its address, as its SDK reads it
	standard string   // the name of the model that is used if none is named
	open     func(name string, o *endpoint) (model.Model, error)
}

// An endpoint is where a model is served, and with which key.
type endpoint struct{ baseURL, key, cli string }

// providers are those of --model, in the order in which a default is chosen.
func providers() []provider {
	return []provider{
		{"anthropic", []string{"ANTHROPIC_API_KEY"}, "ANTHROPIC_BASE_URL", "claude-sonnet-5-5", func(name string, o *endpoint) (model.Model, error) {
			return anthropic.New(name, &anthropic.Options{APIKey: o.key, BaseURL: o.baseURL}), nil
		}},
		{"openai", []string{"OPENAI_API_KEY"}, "OPENAI_BASE_URL", "gpt-6.2-sol", func(name string, o *endpoint) (model.Model, error) {
			return openai.New(name, &openai.Options{APIKey: o.key, BaseURL: o.baseURL, Provider: "openai"}), nil
		}},
		{"gemini", []string{"GOOGLE_API_KEY", "GEMINI_API_KEY"}, "GOOGLE_GEMINI_BASE_URL", "gemini-4-hydrogen", func(name string, o *endpoint) (model.Model, error) {
			m := gemini.New(name, &gemini.Options{APIKey: o.key, BaseURL: o.baseURL})
			return m, m.Check(&model.Request{Messages: []*model.Message{model.UserText("Hello.")}}) // what is wrong with the options
		}},
		{"openai-compatible", nil, "", "", func(name string, o *endpoint) (model.Model, error) {
			if o.baseURL == "" {
				return nil, cli.Usagef("openai-compatible needs the address of the server, such as --base-url http://localhost:11434/v1")
			}
			return openai.NewChat(name, &openai.Options{APIKey: o.key, BaseURL: o.baseURL}), nil
		}},
		{"claude-cli", nil, "", "", func(name string, o *endpoint) (model.Model, error) {
			if _, err := (&claude.Command{Path: o.cli}).Find(); err != nil {
				return nil, err
			}
			return claudecli.New(name, &claudecli.Options{CLI: &claude.Options{CLI: o.cli}}), nil
		}},
	}
}

const modelHelp = `
The model is PROVIDER/NAME: anthropic/…, openai/…, gemini/…, claude-cli/… (the
login of the claude command), or openai-compatible/… with --base-url. The
provider alone means its usual model. Without --model it is that of the first
key that is set: ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_API_KEY or
GEMINI_API_KEY. ANTHROPIC_BASE_URL, OPENAI_BASE_URL and GOOGLE_GEMINI_BASE_URL
replace the address of the provider. "demo" is a script that needs no key.`

const demoModel = "demo"

// modelNames lists values of --model: the usual model of each provider, and others that
// have a price.
func modelNames() []string {
	names := []string{demoModel}
	for _, p := range providers() {
		if p.standard == "" {
			names = append(names, p.name+"/")
			continue
		}
		names = append(names, p.name+"/"+p.standard)
	}
	return names
}

// modelFlags choose the model.
type modelFlags struct {
	name, baseURL, keyVariable, cli string

	opened []io.Closer
}

func (f *modelFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.name, "model", "m", "", "`MODEL`: PROVIDER/NAME, or demo")
	cli.CompleteFlag(cmd, "model", modelNames)
	cmd.Flags().StringVar(&f.baseURL, "base-url", "", "`URL` of a compatible server; it gets no key but that of --api-key-env")
	cmd.Flags().StringVar(&f.keyVariable, "api-key-env", "", "the variable `NAME` holds the key")
	cmd.Flags().StringVar(&f.cli, "cli", "", "`PATH` of the claude command")
}

// open opens the model of a name, or if it is empty the default one.
func (f *modelFlags) open(name string) (model.Model, error) {
	if name == "" {
		var err error
		if name, err = f.choose(); err != nil {
			return nil, err
		}
	}
	if name == demoModel {
		return demo.New(), nil
	}
	kind, rest, _ := strings.Cut(name, "/")
	for _, p := range providers() {
		if p.name != kind {
			continue
		}
		if rest == "" {
			rest = p.standard
		}
		if rest == "" && kind != "claude-cli" {
			return nil, cli.Usagef("name the model, as in --model %s/NAME", kind)
		}
		return f.openOf(&p, rest)
	}
	return nil, cli.Usagef("there is no provider %q; write PROVIDER/NAME with %s, or demo", kind, listProviders())
}

func (f *modelFlags) openOf(p *provider, name string) (model.Model, error) {
	o := &endpoint{baseURL: f.baseURL, cli: f.cli}
	variables := p.keys
	switch {
	case f.keyVariable != "":
		variables = []string{f.keyVariable}
	case f.baseURL != "":
		variables = nil // the key of the provider is not for other servers
		if p.keys != nil {
			o.key = noKey
		}
	}
	if o.baseURL == "" && p.address != "" { // whoever sets it wants the key to go there
		o.baseURL = os.Getenv(p.address)
	}
	from := ""
	for _, v := range variables {
		if key := os.Getenv(v); key != "" {
			o.key, from = key, v
			break
		}
	}
	if len(variables) > 0 && o.key == "" {
		return nil, cli.Usagef("%s/%s needs a key: set the variable %s, or use --model demo, which needs none", p.name, name, strings.Join(variables, " or "))
	}
	m, err := p.open(name, o)
	if err != nil {
		return nil, err
	}
	if c, ok := m.(io.Closer); ok { // the CLI, which retries itself
		f.opened = append(f.opened, c)
		return m, nil
	}
	return model.Retry(&flagHint{m, from, f.baseURL}, nil), nil
}

// noKey is sent to servers that need no key: an SDK that is given none takes
// that of its provider from the environment.
const noKey = "toolpost-no-key"

func listProviders() string {
	var names []string
	for _, p := range providers() {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}

// choose returns the usual model of the first provider whose key is set.
func (f *modelFlags) choose() (string, error) {
	var variables []string
	for _, p := range providers() {
		for _, v := range p.keys {
			if os.Getenv(v) != "" {
				return p.name + "/" + p.standard, nil
			}
		}
		variables = append(variables, p.keys...)
	}
	text := "no model is chosen, and no key is set.\n" +
		"  set one of the variables " + strings.Join(variables, ", ") + ",\n" +
		"  or try it without a key: --model demo"
	if _, err := (&claude.Command{Path: f.cli}).Find(); err == nil {
		text += ",\n  or use the login of your claude command: --model claude-cli"
	}
	text += ",\n  or use a server of your own: --model openai-compatible/NAME --base-url URL"
	return "", cli.WrapUsage(errors.New(text))
}

// close ends what the models keep open.
func (f *modelFlags) close() error {
	var errs []error
	for _, c := range f.opened {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// lastModel returns the model that wrote the last message, "" if there is none
// that --model knows.
func lastModel(messages []*model.Message) string {
	for _, m := range slices.Backward(messages) {
		for _, p := range m.Parts {
			if p.Origin == nil {
				continue
			}
			if *p.Origin == demo.New().Origin() {
				return demoModel
			}
			for _, known := range providers() {
				if known.name == p.Origin.Provider {
					return p.Origin.String()
				}
			}
			return ""
		}
	}
	return ""
}
