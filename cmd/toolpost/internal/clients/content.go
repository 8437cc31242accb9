package clients

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/configfile"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/nesting"
)

// A content is what a client's file contains.
type content struct {
	File
	data              []byte   // as JSON
	converted         bool     // from another format: positions mean nothing
	excluded, allowed []string // servers by name, in Gemini CLI; no allowed ones mean all
}

// readContent reads the content of a client's file; it returns nil for a file that has no
// servers that can be read, with the reason unless the file is empty.
func readContent(f File, data []byte) (*content, *hujson.Value, error) {
	data, converted, err := clientJSON(f.Path, data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s (%s): left out: %w", f.Client, f.Path, err)
	}
	c := &content{File: f, data: bytes.TrimPrefix(data, []byte("\ufeff")), converted: converted}
	top, err := c.parse()
	if err != nil && !configfile.IsEmpty(data) {
		return nil, nil, fmt.Errorf("%s: left out: %w", f.Client, err)
	}
	if top == nil {
		return nil, nil, nil
	}
	c.excluded = textsOf(top.Find("/mcp/excluded"))
	c.allowed = textsOf(top.Find("/mcp/allowed"))
	return c, top, nil
}

// parse returns the object of the file. What is wrong with a file that has none is what
// the reader of toolpost.json says about it.
func (c *content) parse() (*hujson.Value, error) {
	if utf8.Valid(c.data) && nesting.TooDeep(c.data, nesting.SkipJSON) < 0 {
		if v, err := hujson.Parse(c.data); err == nil && v.Value.Kind() == '{' {
			return &v, nil
		}
	}
	name := c.Path
	if c.converted {
		name = "converted.json"
	}
	_, err := config.Parse(name, c.data, nil)
	return nil, c.mistakes(err, func(p config.Problem) config.Problem { return p })
}

// mistakes returns an error of a toolpost.json that was made of the file, with the places
// that they have here.
func (c *content) mistakes(err error, here func(config.Problem) config.Problem) error {
	invalid, ok := errors.AsType[*config.Error](err)
	if !ok {
		return err
	}
	var problems []config.Problem
	var texts []string
	for _, p := range invalid.Problems {
		p = here(p)
		problems, texts = append(problems, p), append(texts, p.Message)
	}
	if c.converted {
		return errors.New(strings.Join(texts, "; "))
	}
	return &config.Error{File: c.Path, Problems: problems}
}

// origin returns where a server comes from.
func (c *content) origin() string {
	if c.Folder != "" && !strings.HasPrefix(c.Path, c.Folder) {
		return fmt.Sprintf("%s (%s, project %s)", c.Client, c.Path, c.Folder)
	}
	return fmt.Sprintf("%s (%s)", c.Client, c.Path)
}

// excludes reports whether the client's own settings exclude the named server.
func (c *content) excludes(name string) bool {
	return slices.Contains(c.excluded, name) || c.allowed != nil && !slices.Contains(c.allowed, name)
}

// in returns the file as the servers of a project in it see it; "" is the user's own.
func (c *content) in(folder string) *content {
	in := *c
	if folder != "" {
		in.Folder = folder
	}
	return &in
}
