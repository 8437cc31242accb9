package configedit

import (
	"strings"

	"github.com/tailscale/hujson"
)

func (d *jsonDocument) Restore(old Document, path ...string) error {
	value, err := old.Get(path...)
	if err == nil {
		err = Set(d, value, path...)
	}
	if err != nil {
		return err
	}
	from, i, err := old.(*jsonDocument).find(path)
	if err != nil {
		return err
	}
	return d.edit(func(c *jsonDocument) error {
		o, n, err := c.find(path)
		if err == nil {
			o.Members[n].Value.Value = from.Members[i].Value.Value
		}
		return err
	})
}

// IsBlank reports whether a member is an object without members and comments.
// Comments in tables of TOML do not go with the table.
func IsBlank(d Document, path ...string) bool {
	value, err := d.Get(path...)
	if err != nil || string(value) != "{}" {
		return false
	}
	j, ok := d.(*jsonDocument)
	if !ok {
		return true
	}
	o, i, err := j.find(path)
	return err == nil && strings.TrimSpace(string(o.Members[i].Value.Value.(*hujson.Object).AfterExtra)) == ""
}
