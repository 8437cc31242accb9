package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// MaxServerJSON is the longest server.json that is read, in bytes.
const MaxServerJSON = 1 << 20

// A serverJSON describes a server in the MCP registry. The schema is
// docs/reference/server-json/server.schema.json of modelcontextprotocol/registry,
// read at version 2025-12-11.
type serverJSON struct {
	Name     string            `json:"name"`
	Packages []registryPackage `json:"packages"`
	Remotes  []remote          `json:"remotes"`

	Server *serverJSON `json:"server"` // in answers of a registry
}

type registryPackage struct {
	RegistryType         string     `json:"registryType"`
	RegistryBaseURL      string     `json:"registryBaseUrl"`
	Identifier           string     `json:"identifier"`
	Version              string     `json:"version"`
	FileSHA256           string     `json:"fileSha256"`
	RuntimeHint          string     `json:"runtimeHint"`
	RuntimeArguments     []argument `json:"runtimeArguments"`
	PackageArguments     []argument `json:"packageArguments"`
	EnvironmentVariables []argument `json:"environmentVariables"`
	Transport            remote     `json:"transport"`
}

type remote struct {
	Type      string              `json:"type"`
	URL       string              `json:"url"`
	Headers   []argument          `json:"headers"`
	Variables map[string]argument `json:"variables"`
}

// An argument is a value of a command, variable or header, or the variable of
// another value.
type argument struct {
	Type        string              `json:"type"` // positional or named
	Name        string              `json:"name"` // of a named argument, variable or header
	ValueHint   string              `json:"valueHint"`
	Value       *string             `json:"value"`
	Default     *string             `json:"default"`
	Description string              `json:"description"`
	Format      string              `json:"format"`
	Choices     []string            `json:"choices"`
	IsRequired  bool                `json:"isRequired"`
	IsSecret    bool                `json:"isSecret"`
	IsRepeated  bool                `json:"isRepeated"`
	Variables   map[string]argument `json:"variables"`
}

func (a *argument) input(key string) *Input {
	in := &Input{Key: key, Description: a.Description, Choices: a.Choices, Required: a.IsRequired, Secret: a.IsSecret, Multiple: a.IsRepeated}
	if a.Default != nil {
		in.Default = []string{*a.Default}
	}
	return in
}

// FromServerJSON returns the plan for a server.json. From selects what of it is
// used: remote, or a type of package such as npm; empty for the first package
// that can be run, otherwise the first remote.
func FromServerJSON(data []byte, from string, answers *Answers) (*Plan, error) {
	if len(data) > MaxServerJSON {
		return nil, fmt.Errorf("read server.json: it is larger than %d bytes", MaxServerJSON)
	}
	var s serverJSON
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("read server.json: %w", err)
	}
	if s.Server != nil {
		s = *s.Server
	}
	var failed []error
	for i := range s.Packages {
		p := &s.Packages[i]
		if from != "" && from != p.RegistryType {
			continue
		}
		plan, err := p.plan(newResolver(answers, s.Name))
		if err == nil {
			return plan, nil
		}
		failed = append(failed, fmt.Errorf("package %s of %s: %w", p.Identifier, p.RegistryType, err))
	}
	if from == "" || from == "remote" {
		return s.fromRemote(answers, failed)
	}
	return nil, s.unusableError(failed)
}

// fromRemote returns the plan for the first remote that can be used. Failed says
// why the packages cannot.
func (s *serverJSON) fromRemote(answers *Answers, failed []error) (*Plan, error) {
	for i := range s.Remotes {
		plan, err := s.Remotes[i].plan(newResolver(answers, s.Name))
		if err == nil {
			return plan, nil
		}
		failed = append(failed, fmt.Errorf("remote: %w", err))
	}
	return nil, s.unusableError(failed)
}

func (s *serverJSON) unusableError(failed []error) error {
	if len(failed) == 0 {
		return fmt.Errorf("read server.json: it has no package or remote that can be used; %s", s.offers())
	}
	return fmt.Errorf("read server.json: %w", errors.Join(failed...))
}

// offers lists what --from can select.
func (s *serverJSON) offers() string {
	var kinds []string
	for _, p := range s.Packages {
		kinds = append(kinds, p.RegistryType)
	}
	if len(s.Remotes) > 0 {
		kinds = append(kinds, "remote")
	}
	if len(kinds) == 0 {
		return "it has none at all"
	}
	return "it has: " + strings.Join(slices.Compact(kinds), ", ")
}

func (p *registryPackage) plan(r *resolver) (*Plan, error) {
	if t := p.Transport.Type; t != "" && t != "stdio" {
		return nil, fmt.Errorf("it serves %s instead of stdio; start it yourself and add its address", t)
	}
	if base := strings.TrimSuffix(p.RegistryBaseURL, "/"); base != "" && !isPublic(p.RegistryType, base) {
		return nil, fmt.Errorf("it comes from %s, not from the public registry of %s; add it with its command instead: toolpost add -- COMMAND", p.RegistryBaseURL, p.RegistryType)
	}
	runtime, err := r.arguments(p.RuntimeArguments)
	if err != nil {
		return nil, err
	}
	args, err := r.arguments(p.PackageArguments)
	if err != nil {
		return nil, err
	}
	env, err := r.table(p.EnvironmentVariables)
	if err != nil {
		return nil, err
	}
	if !r.answers.Runtime {
		err = errors.Join(p.checkRuntime(runtime), p.checkEnvironment())
	}
	if err != nil {
		return nil, err
	}
	e, err := p.command(runtime, args, slices.Sorted(maps.Keys(env)))
	if err != nil {
		return nil, err
	}
	e.Env = env
	r.plan.Entry = *e
	return r.finish()
}

// isPublic reports whether an address is that of a registry which package
// programs use by default.
func isPublic(kind, base string) bool {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "https" || u.Port() != "" || u.User != nil {
		return false
	}
	hosts := map[string][]string{npm: {"npmjs.org", "npmjs.com"}, pypi: {"pypi.org"}, oci: {"docker.io", "ghcr.io", "microsoft.com"}, nuget: {"nuget.org"}}[kind]
	return kind == mcpb || slices.ContainsFunc(hosts, func(host string) bool { // a bundle is not fetched
		return u.Hostname() == host || strings.HasSuffix(u.Hostname(), "."+host)
	})
}

func (t *remote) plan(r *resolver) (*Plan, error) {
	if t.Type != "streamable-http" && t.Type != "sse" {
		return nil, fmt.Errorf("its transport %q is not supported", t.Type)
	}
	address, err := r.fill(t.URL, t.Variables)
	if err != nil {
		return nil, err
	}
	if r.plan.Entry.Headers, err = r.table(t.Headers); err != nil {
		return nil, err
	}
	r.plan.Entry.URL = address
	if t.Type == "sse" {
		r.plan.Entry.Type = "sse"
	}
	return r.finish()
}

// table returns variables or headers by name.
func (r *resolver) table(all []argument) (map[string]string, error) {
	table := map[string]string{}
	for i := range all {
		values, err := r.valuesOf(&all[i], all[i].Name)
		if err != nil {
			return nil, err
		}
		if len(values) > 0 {
			table[all[i].Name] = values[0]
		}
	}
	if len(table) == 0 {
		return nil, nil
	}
	return table, nil
}

// arguments returns the words of a command line.
func (r *resolver) arguments(all []argument) (words []string, err error) {
	for i := range all {
		a := &all[i]
		key := strings.TrimLeft(a.Name, "-")
		if key == "" {
			key = a.ValueHint
		}
		values, err := r.valuesOf(a, key)
		if err != nil {
			return nil, err
		}
		if err := refuseExpansion(a.Name); err != nil {
			return nil, err
		}
		for _, v := range values {
			words = append(words, a.words(v)...)
		}
	}
	return words, nil
}

// words returns the words of an argument with a value.
func (a *argument) words(value string) []string {
	switch {
	case a.Type != "named":
		return []string{value}
	case a.Format == "boolean" && value == "false":
		return nil
	case a.Format == "boolean" && value == "true", value == "":
		return []string{a.Name}
	}
	return []string{a.Name, value}
}

// valuesOf returns the values of an argument: its own, with variables filled in,
// or those of the user.
func (r *resolver) valuesOf(a *argument, key string) ([]string, error) {
	if a.Value == nil {
		return r.values(a.input(key))
	}
	text, err := r.fill(*a.Value, a.Variables)
	if err != nil {
		return nil, err
	}
	return []string{text}, nil
}

var braces = lazyregexp.New(`\{([A-Za-z0-9_.-]+)\}`)

// fill replaces {name} in a text by the values of variables. Other braces stay.
func (r *resolver) fill(text string, variables map[string]argument) (filled string, err error) {
	if err := refuseExpansion(text); err != nil {
		return "", err
	}
	references := 0 // in the values of the user
	filled = braces.ReplaceAllStringFunc(text, func(match string) string {
		name := match[1 : len(match)-1]
		v, ok := variables[name]
		if !ok {
			return match
		}
		v.Variables = nil // the schema has no variables of variables
		values, e := r.valuesOf(&v, name)
		if e != nil {
			err = e
		}
		value := strings.Join(values, ",")
		references += strings.Count(value, "${")
		return value
	})
	if err == nil && strings.Count(filled, "${") != references { // put together of parts
		err = errReference
	}
	return filled, err
}
