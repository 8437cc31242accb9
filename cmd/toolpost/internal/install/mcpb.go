package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// A manifest describes the server of a bundle. The schema is
// schemas/mcpb-manifest-v0.4.schema.json of modelcontextprotocol/mcpb.
type manifest struct {
	Name   string `json:"name"`
	Server struct {
		Type       string    `json:"type"`
		EntryPoint string    `json:"entry_point"`
		Config     mcpConfig `json:"mcp_config"`
	} `json:"server"`
	UserConfig    map[string]userConfig `json:"user_config"`
	Compatibility struct {
		Platforms []string `json:"platforms"`
	} `json:"compatibility"`
}

type mcpConfig struct {
	Command   string               `json:"command"`
	Args      []string             `json:"args"`
	Env       map[string]string    `json:"env"`
	Overrides map[string]mcpConfig `json:"platform_overrides"`
}

type userConfig struct {
	Title       string          `json:"title"`
	Description string          `json:"description"`
	Required    bool            `json:"required"`
	Default     json.RawMessage `json:"default"`
	Multiple    bool            `json:"multiple"`
	Sensitive   bool            `json:"sensitive"`
}

// maxManifest is the longest manifest of a bundle, in bytes.
const maxManifest = 1 << 20

// FromBundle returns the plan for an MCP bundle, a .mcpb file. [Plan.Unpack]
// unpacks it into a folder below dir, in which the entry runs.
func FromBundle(file, dir string, answers *Answers) (*Plan, error) {
	plan, err := fromBundle(file, dir, answers)
	if err != nil {
		return nil, fmt.Errorf("read the bundle %s: %w", file, err)
	}
	return plan, nil
}

func fromBundle(file, dir string, answers *Answers) (*Plan, error) {
	b, m, err := openBundle(file)
	if err != nil {
		return nil, err
	}
	if p := m.Compatibility.Platforms; len(p) > 0 && !slices.Contains(p, platform()) {
		return nil, fmt.Errorf("it runs on %s only", strings.Join(p, ", "))
	}
	b.folder = filepath.Join(dir, ShortName(m.Name)+"-"+b.digest)
	r := newResolver(answers, m.Name)
	r.plan.bundle = b
	c := m.forPlatform()
	x := &expansion{resolver: r, m: m, folder: b.folder}
	e := &Entry{Cwd: b.folder}
	if e.Command, err = x.expandText(c.Command); err != nil {
		return nil, err
	}
	if strings.ContainsAny(e.Command, `/\`) && !filepath.IsAbs(e.Command) {
		e.Command = filepath.Join(b.folder, filepath.FromSlash(e.Command))
	}
	for _, arg := range c.Args {
		words, err := x.words(arg)
		if err != nil {
			return nil, err
		}
		e.Args = append(e.Args, words...)
	}
	if e.Env, err = x.table(c.Env); err != nil {
		return nil, err
	}
	r.plan.Entry = *e
	return r.finish()
}

// forPlatform returns how the server runs on this system.
func (m *manifest) forPlatform() mcpConfig {
	c := m.Server.Config
	if m.Server.Type == "uv" && c.Command == "" {
		return mcpConfig{Command: "uv", Args: []string{"run", "--directory", "${__dirname}", m.Server.EntryPoint}}
	}
	o, ok := c.Overrides[platform()]
	if !ok {
		return c
	}
	if o.Command != "" {
		c.Command = o.Command
	}
	if o.Args != nil {
		c.Args = o.Args
	}
	env := maps.Clone(c.Env)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, o.Env)
	c.Env = env
	return c
}

// An expansion replaces the variables of a manifest.
type expansion struct {
	*resolver
	m      *manifest
	folder string
}

var placeholder = lazyregexp.New(`\$\{([^}]*)\}`)

// words returns what an argument becomes: a value that has several is as many
// arguments, and one that is left out is none.
func (x *expansion) words(text string) ([]string, error) {
	key, whole := strings.CutPrefix(text, "${user_config.")
	if key, closed := strings.CutSuffix(key, "}"); whole && closed && !strings.Contains(key, "}") {
		return x.user(key)
	}
	word, err := x.expandText(text)
	return []string{word}, err
}

// table returns variables without those that stand for an optional value which the
// user does not give.
func (x *expansion) table(variables map[string]string) (map[string]string, error) {
	table := map[string]string{}
	for name, value := range variables {
		text, err := x.expandText(value)
		if err != nil {
			return nil, err
		}
		if text != "" || value == "" {
			table[name] = text
		}
	}
	return table, nil
}

// expandText returns a text with its variables replaced.
func (x *expansion) expandText(text string) (expanded string, err error) {
	if rest := placeholder.ReplaceAllString(text, ""); strings.Contains(rest, "${") {
		return "", errReference
	}
	references := 0 // in the values of the user
	expanded = placeholder.ReplaceAllStringFunc(text, func(match string) string {
		value, e := x.value(match[2 : len(match)-1])
		err = errors.Join(err, e)
		references += strings.Count(value, "${")
		return value
	})
	if strings.Count(expanded, "${") != references { // put together of parts
		err = errors.Join(err, errReference)
	}
	return expanded, err
}

func (x *expansion) value(name string) (string, error) {
	home, _ := os.UserHomeDir()
	places := map[string]string{
		"__dirname": x.folder, "HOME": home, "pathSeparator": string(filepath.Separator), "/": string(filepath.Separator),
		"DESKTOP": filepath.Join(home, "Desktop"), "DOCUMENTS": filepath.Join(home, "Documents"), "DOWNLOADS": filepath.Join(home, "Downloads"),
	}
	if place, ok := places[name]; ok {
		return place, nil
	}
	if key, ok := strings.CutPrefix(name, "user_config."); ok {
		values, err := x.user(key)
		return strings.Join(values, ","), err
	}
	return "", errReference
}

// user returns the values that the user gives for a key of user_config.
func (x *expansion) user(key string) ([]string, error) {
	c, ok := x.m.UserConfig[key]
	if !ok {
		return nil, fmt.Errorf("its manifest has no user_config.%s", key)
	}
	in := &Input{Key: key, Description: c.Title, Required: c.Required, Secret: c.Sensitive, Multiple: c.Multiple}
	if c.Description != "" {
		in.Description = strings.TrimPrefix(c.Title+": "+c.Description, ": ")
	}
	for _, v := range defaults(c.Default) {
		text := v
		if strings.Contains(v, "${user_config.") { // only places are variables here
			return nil, errReference
		}
		text, err := x.expandText(text)
		if err != nil {
			return nil, err
		}
		in.Default = append(in.Default, text)
	}
	return x.values(in)
}

// defaults returns a default value as texts.
func defaults(raw json.RawMessage) []string {
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	var text string
	if json.Unmarshal(raw, &text) == nil && text != "" {
		return []string{text}
	}
	if text = string(raw); text == "true" || text == "false" || json.Unmarshal(raw, new(float64)) == nil && text != "null" {
		return []string{text}
	}
	return nil
}

// openBundle reads the manifest of a bundle and checks the names and sizes of its
// files.
func openBundle(file string) (*bundle, *manifest, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, nil, err
	case !info.Mode().IsRegular():
		return nil, nil, errors.New("it is not a file")
	case info.Size() > maxBundle:
		return nil, nil, fmt.Errorf("it is larger than %d bytes", maxBundle)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return nil, nil, err
	}
	z, err := openArchive(f, info.Size())
	if err != nil {
		return nil, nil, err
	}
	data, err := readMember(z, "manifest.json", maxManifest)
	if err != nil {
		return nil, nil, err
	}
	m := &manifest{}
	if err := json.Unmarshal(data, m); err != nil {
		return nil, nil, fmt.Errorf("its manifest.json: %w", err)
	}
	if c := m.forPlatform(); c.Command == "" {
		return nil, nil, errors.New("its manifest.json has no server.mcp_config.command")
	}
	return &bundle{file: file, digest: hex.EncodeToString(sum.Sum(nil))}, m, nil
}
