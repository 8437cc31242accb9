// Package install turns what describes a server into an entry of toolpost.json:
// the name of a package, a server.json of the MCP registry, or an MCP bundle.
//
// All of them come from strangers. Nothing is run or fetched here, and a description
// never makes an entry refer to a variable that the user has set, unless the user
// says so: such a document could send the user's secrets to its author.
package install

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// An Entry is a server of toolpost.json.
type Entry struct {
	Type     string            `json:"type,omitempty"`
	Command  string            `json:"command,omitempty"`
	Args     []string          `json:"args,omitempty"`
	Env      map[string]string `json:"env,omitempty"`
	Cwd      string            `json:"cwd,omitempty"`
	URL      string            `json:"url,omitempty"`
	Headers  map[string]string `json:"headers,omitempty"`
	Prefix   *string           `json:"prefix,omitempty"`
	Disabled bool              `json:"disabled,omitempty"`
}

// An Input is a value that a description leaves to the user.
type Input struct {
	Key         string // such as API_KEY
	Description string
	Default     []string // nil for none
	Choices     []string // nil for any value
	Required    bool
	Secret      bool
	Multiple    bool // several values are possible
}

// variableOf returns the environment variable that stands for a value of a server
// in toolpost.json. Its name begins with TOOLPOST_ and the name of the server: the
// description chooses the key, and must not reach a variable that the user has for
// something else, now or later.
func variableOf(server, key string) string {
	return "TOOLPOST_" + variablePart(server) + "__" + variablePart(key)
}

func variablePart(text string) string {
	return strings.ToUpper(strings.Trim(notInName.ReplaceAllString(text, "_"), "_"))
}

var notInName = lazyregexp.New(`[^A-Za-z0-9]+`)

// Answers are the values that the user gives, by the key of the input, and a way
// to ask for others.
type Answers struct {
	Name  string // of the server; empty for the one that the description proposes
	Given map[string][]string

	// Ask asks for a required value that is not a secret. An empty answer leaves
	// it to a variable of the environment. Nil asks for nothing.
	Ask func(in *Input) (string, error)

	// Runtime accepts all arguments that a description has for the program that
	// runs its package; otherwise only harmless ones are.
	Runtime bool
}

// A Plan is a server that can be added.
type Plan struct {
	Name  string // a proposal
	Entry Entry
	Notes []string // what the user should know or do

	bundle *bundle // to be unpacked; nil for none
}

// resolver answers the inputs of one description.
type resolver struct {
	answers *Answers
	plan    *Plan
	used    map[string]bool
}

func newResolver(a *Answers, proposal string) *resolver {
	if a == nil {
		a = &Answers{}
	}
	return &resolver{answers: a, plan: &Plan{Name: cmp.Or(a.Name, ShortName(proposal))}, used: map[string]bool{}}
}

// values returns the values of an input, nil if it is left out.
func (r *resolver) values(in *Input) ([]string, error) {
	r.used[in.Key] = true
	given := r.answers.Given[in.Key]
	switch {
	case len(given) > 1 && !in.Multiple:
		return nil, fmt.Errorf("%s has one value; give %s once", in.Key, setOption(in.Key, "VALUE"))
	case given != nil:
		return given, in.check(given)
	case in.Default != nil:
		return in.Default, refuseExpansion(in.Default...)
	case !in.Required:
		return nil, nil
	case !in.Secret && r.answers.Ask != nil:
		answer, err := r.answers.Ask(in)
		if err != nil || answer != "" {
			return []string{answer}, errors.Join(err, in.check([]string{answer}))
		}
	}
	return r.leaveToVariable(in)
}

// leaveToVariable leaves a value to a variable of the environment, and notes what to do.
// It refuses a variable that is set: the description chooses the name, and the
// server would get a value that the user has for something else.
func (r *resolver) leaveToVariable(in *Input) ([]string, error) {
	name := variableOf(r.plan.Name, in.Key)
	reference := "${" + name + "}"
	if _, set := os.LookupEnv(name); set {
		return nil, fmt.Errorf("the server asks for %s, and your environment has a variable %s, whose value the server would get; to allow this, give %s, otherwise give another value",
			in.Key, name, setOption(in.Key, reference))
	}
	note := fmt.Sprintf("set the environment variable %s before serve starts, or replace %s in the file", name, reference)
	if in.Description != "" {
		note += ": " + in.Description
	}
	if !slices.Contains(r.plan.Notes, note) {
		r.plan.Notes = append(r.plan.Notes, note)
	}
	return []string{reference}, nil
}

// setOption returns the option that sets a value, for a shell. The key comes from a
// stranger, and the user may copy the option.
func setOption(key, value string) string {
	word := key + "=" + value
	if !plainWord.MatchString(word) {
		word = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return "--set " + word
}

var plainWord = lazyregexp.New(`^[A-Za-z0-9_./=:@%+,-]+$`)

// check refuses a value that is not one of the choices.
func (in *Input) check(values []string) error {
	for _, v := range values {
		if len(in.Choices) > 0 && !slices.Contains(in.Choices, v) {
			return fmt.Errorf("%s has another value than %s; choose one of them with %s", in.Key, strings.Join(in.Choices, ", "), setOption(in.Key, "VALUE"))
		}
	}
	return nil
}

// finish returns the plan, unless the user gave a value that nothing asks for.
func (r *resolver) finish() (*Plan, error) {
	for key := range r.answers.Given {
		if !r.used[key] {
			known := make([]string, 0, len(r.used))
			for k := range r.used {
				known = append(known, k)
			}
			slices.Sort(known)
			return nil, fmt.Errorf("the server has no value %q to set; it has: %s", key, strings.Join(known, ", "))
		}
	}
	return r.plan, nil
}

var errReference = errors.New(`the description contains "${", which would read a variable of your environment; add the server with its command instead: toolpost add -- COMMAND`)

// refuseExpansion refuses texts of a description that toolpost.json would expand.
func refuseExpansion(texts ...string) error {
	if strings.Contains(strings.Join(texts, "\n"), "${") {
		return errReference
	}
	return nil
}

// ShortName returns a name for a server from a longer one, such as
// @modelcontextprotocol/server-memory or io.github.user/weather-mcp.
func ShortName(long string) string {
	short := long[strings.LastIndexByte(long, '/')+1:]
	short, _, _ = strings.Cut(short, ":")
	for _, affix := range []string{"mcp-server-", "server-", "mcp-"} {
		short = strings.TrimPrefix(short, affix)
	}
	for _, affix := range []string{"-mcp-server", "-server", "-mcp"} {
		short = strings.TrimSuffix(short, affix)
	}
	if short = strings.Trim(notInServer.ReplaceAllString(short, "-"), "-"); short == "" {
		return "server"
	}
	return short
}

var notInServer = lazyregexp.New(`[^A-Za-z0-9_-]+`)

// platform returns the name that Node has for this system.
func platform() string {
	if runtime.GOOS == "windows" {
		return "win32"
	}
	return runtime.GOOS
}
