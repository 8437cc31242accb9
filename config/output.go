package config

import (
	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/internal/hidden"
)

// output reads false, or {"lines": …, "chars": …, "errors": …}.
func (f *file) output(v hujson.Value, path string) {
	o := &f.cfg.Output
	if k := v.Value.Kind(); k == 't' || k == 'f' {
		o.Off = k == 'f'
		return
	}
	limits := map[string]*int{"lines": &o.Lines, "chars": &o.Chars, "errors": &o.Errors}
	least := map[string]int{"lines": hidden.MinLines, "chars": hidden.MinChars, "errors": hidden.MinChars}
	f.members(v, path, func(m *hujson.ObjectMember) {
		name := key(m)
		if limits[name] == nil {
			f.unknown(m, path, []string{"chars", "errors", "lines"})
			return
		}
		*limits[name] = limit(f.source, m.Value, path+"."+name, least[name])
	})
}

// outputs reads how much is shown of the outputs of one server: false, a number
// of characters, or an object that sets either for globs of tool names.
func (e *entry) outputs(v hujson.Value, path string) {
	if v.Value.Kind() != '{' {
		e.outputLimit("*", v, path)
		return
	}
	e.members(v, path, func(m *hujson.ObjectMember) {
		e.outputLimit(key(m), m.Value, path+"."+key(m))
	})
}

// maxOutputLimits is how many limits one server may have: each tool is compared
// with all of them.
const maxOutputLimits = 100

func (e *entry) outputLimit(tools string, v hujson.Value, path string) {
	chars := 0
	switch k := v.Value.Kind(); {
	case len(e.server.Outputs) == maxOutputLimits:
		e.fail(v.StartOffset, "%s is one of more than %d limits; use wildcards", path, maxOutputLimits)
		return
	case k == 't': // the limits of the file
	case k == 'f':
		chars = -1
	case k == '0':
		chars = limit(e.source, v, path, hidden.MinChars)
	default:
		e.fail(v.StartOffset, "%s is %s; want false, or a number of characters", path, kind(v))
		return
	}
	e.server.Outputs = append(e.server.Outputs, OutputLimit{tools, chars})
}
