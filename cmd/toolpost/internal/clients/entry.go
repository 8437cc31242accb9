package clients

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/config"
)

// readServer reads an entry as one of toolpost.json. The notes describe what an import
// changes.
func (c *content) readServer(name string, v *hujson.Value) (server *config.Server, value hujson.Value, notes []string, err error) {
	value = v.Clone()
	adapt(&value, c.File)
	server, notes, err = c.parseEntry(name, v.StartOffset, value.Value.(*hujson.Object))
	if err != nil {
		return nil, value, nil, err
	}
	if c.excludes(name) {
		server.Disabled = true
		set(value.Value.(*hujson.Object), "disabled", hujson.Value{Value: hujson.Bool(true)})
		notes = append(notes, "it is added as disabled, because the client excludes it")
	}
	for _, input := range inputReference.FindAllStringSubmatch(value.String(), -1) {
		notes = append(notes, fmt.Sprintf("set the environment variable %s; the client asks for it", inputVariable(input[1])))
	}
	return server, value, notes, nil
}

// parseEntry reads an entry, whose name stands at an offset of the file. It takes out the
// keys that mean nothing in a toolpost.json, and notes those that the user may miss.
func (c *content) parseEntry(name string, at int, o *hujson.Object) (*config.Server, []string, error) {
	notes := dropRedmine(o)
	for {
		d := newDocument(name, at, o)
		cfg, err := config.Parse("toolpost.json", d.text, nil)
		if err != nil {
			return nil, nil, c.mistakes(err, func(p config.Problem) config.Problem { return c.place(d, p) })
		}
		if len(cfg.Servers) != 1 {
			return nil, nil, errors.New("it cannot be the name of a server")
		}
		before := len(o.Members)
		for _, p := range cfg.Problems() {
			if note := drop(o, strings.TrimPrefix(p.Key, d.path+"."), d.path, &p); note != "" {
				notes = append(notes, note)
			}
		}
		if len(o.Members) < before {
			continue // a key that is unknown hides other mistakes
		}
		server := &cfg.Servers[0]
		return server, notes, c.mistakes(server.Err, func(p config.Problem) config.Problem { return c.place(d, p) })
	}
}

// redmineKeys are for servers of that type. In an entry of another one they are unknown,
// whatever their values are.
var redmineKeys = []string{"apiKey", "key", "user", "password", "token", "as", "anonymous", "readOnly", "groups"}

func dropRedmine(o *hujson.Object) (notes []string) {
	for i := range o.Members {
		kind, _ := textOf(&o.Members[i].Value)
		if name := key(&o.Members[i]); (name == "type" || name == "transport") && kind == "redmine" {
			return nil
		}
	}
	o.Members = slices.DeleteFunc(o.Members, func(m hujson.ObjectMember) bool {
		drops := slices.Contains(redmineKeys, key(&m))
		if drops {
			notes = append(notes, unknownKey(key(&m)))
		}
		return drops
	})
	return notes
}

func unknownKey(name string) string { return fmt.Sprintf("the unknown key %q is left out", name) }

// drop takes the key that a problem is about out of an entry, if it is one of the entry's
// own, and returns what the user should know.
func drop(o *hujson.Object, name, path string, p *config.Problem) (note string) {
	i := slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool { return key(&m) == name })
	if i < 0 || p.Key == "" {
		return ""
	}
	isOff := o.Members[i].Value.Value.Kind() == 'f'
	o.Members = slices.Delete(o.Members, i, i+1)
	if p.Server != "" { // not p.Warning, which it also is if the server is disabled
		return unknownKey(name)
	}
	reason := strings.TrimPrefix(p.Message, p.Key+" ")
	if isOff || strings.HasSuffix(reason, "has no effect here") {
		return ""
	}
	return fmt.Sprintf("the key %q is left out: it %s", name, reason)
}

// A document is a toolpost.json with one server of a client's file.
type document struct {
	text []byte // in one line
	path string // of the server
	from []int  // where the parts of the text begin in the client's file,
	to   []int  // and where in the text
}

func newDocument(name string, at int, o *hujson.Object) *document {
	object := func(name hujson.Value, v hujson.Value) hujson.Value {
		return hujson.Value{Value: &hujson.Object{Members: []hujson.ObjectMember{{Name: name, Value: v}}}, StartOffset: at}
	}
	entry := hujson.Value{Value: o, StartOffset: at}
	v := object(hujson.Value{Value: hujson.String("mcpServers")}, object(hujson.Value{Value: hujson.String(name), StartOffset: at}, entry.Clone()))
	d := &document{path: "mcpServers." + name}
	for part := range v.All() {
		d.from = append(d.from, part.StartOffset)
	}
	v.Minimize() // it updates the offsets
	for part := range v.All() {
		d.to = append(d.to, part.StartOffset)
	}
	d.text = v.Pack()
	return d
}

// place returns a problem of the document as one of the client's file.
func (c *content) place(d *document, p config.Problem) config.Problem {
	offset := 0
	for range p.Column - 1 {
		_, n := utf8.DecodeRune(d.text[offset:])
		offset += n
	}
	i, found := slices.BinarySearch(d.to, offset)
	if !found {
		i-- // the part that contains it; the first begins at 0
	}
	before := c.data[:min(d.from[i], len(c.data))]
	p.Line = 1 + bytes.Count(before, []byte("\n"))
	p.Column = 1 + utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	p.Message = strings.ReplaceAll(p.Message, d.path, strings.TrimPrefix(d.path, "mcpServers."))
	return p
}
