package config

import (
	"encoding/json"
	"fmt"
	"strings"
)

// tools describes the changes of tools: clients read them as texts of the server, and
// servers get arguments that no client has given.
func (d *description) tools(b *ToolChanges) {
	for _, c := range b.Tools {
		var parts []string
		part := func(name string, value any) {
			raw, _ := json.Marshal(value) // of texts and JSON
			parts = append(parts, name+" "+visible(string(raw)))
		}
		if c.Name != "" {
			part("name", c.Name)
		}
		if c.Title != nil {
			part("title", *c.Title)
		}
		if c.Description != nil {
			part("description", *c.Description)
		}
		if c.Annotations != nil {
			part("annotations", c.Annotations)
		}
		if c.Meta != nil {
			part("_meta", c.Meta)
		}
		if c.Disabled {
			parts = append(parts, "disabled")
		}
		d.add("tool", strings.TrimSpace(visible(c.Tool)+" "+strings.Join(parts, ", ")))
		for i := range c.Arguments {
			d.argument(c.Tool, &c.Arguments[i])
		}
	}
}

// argument describes the change of one argument.
func (d *description) argument(tool string, a *ArgumentChange) {
	var parts []string
	for _, p := range []struct {
		name  string
		value json.RawMessage
	}{{"default", a.Default}, {"type", a.Type}, {"examples", a.Examples}} {
		if p.value != nil {
			parts = append(parts, p.name+" "+visible(string(p.value)))
		}
	}
	if a.Name != "" {
		parts = append(parts, fmt.Sprintf("name %s", visible(a.Name)))
	}
	if a.Description != nil {
		parts = append(parts, "description "+visible(*a.Description))
	}
	if a.Hide {
		parts = append(parts, "hidden from clients")
	}
	if a.Required {
		parts = append(parts, "required")
	}
	d.add("argument", visible(tool)+"."+visible(a.Argument)+" "+strings.Join(parts, ", "))
}
