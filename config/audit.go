package config

import (
	"maps"
	"slices"
	"time"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/audit"
)

// auditKeys says what each key of the audit log sets.
var auditKeys = map[string]func(f *file, o *audit.Options, v hujson.Value, path string){
	"level":    (*file).auditLevel,
	"redact":   (*file).auditRedact,
	"maxSize":  (*file).auditSize,
	"keep":     (*file).auditDays,
	"required": func(f *file, o *audit.Options, v hujson.Value, path string) { o.Required = f.boolean(v, path) },
	"sync":     func(f *file, o *audit.Options, v hujson.Value, path string) { o.Sync = f.boolean(v, path) },
}

// audit reads true, false, or {"level": …, "redact": […], …}.
func (f *file) audit(v hujson.Value, path string) {
	o := &audit.Options{}
	switch k := v.Value.Kind(); k {
	case 'f':
		o = nil
	case 't':
	default:
		f.members(v, path, func(m *hujson.ObjectMember) {
			name := key(m)
			set := auditKeys[name]
			if set == nil {
				f.unknown(m, path, slices.Sorted(maps.Keys(auditKeys)))
				return
			}
			set(f, o, m.Value, path+"."+name)
		})
	}
	f.cfg.Audit = o
}

func (f *file) auditLevel(o *audit.Options, v hujson.Value, path string) {
	o.Level = audit.Level(f.text(v, path))
	if !slices.Contains([]audit.Level{audit.LevelMeta, audit.LevelArgs, audit.LevelFull}, o.Level) {
		f.fail(v.StartOffset, `%s is not a level; write "meta", "args" or "full"`, path)
	}
}

func (f *file) auditRedact(o *audit.Options, v hujson.Value, path string) {
	f.each(v, path, func(v hujson.Value, path string) {
		pattern := f.text(v, path)
		if err := (&audit.Options{Redact: []string{pattern}}).Check(); err != nil {
			f.fail(v.StartOffset, `%s is not a pattern; write the name of an argument, such as "email", or a JSON pointer, such as "/customer/phone"`, path)
			return
		}
		o.Redact = append(o.Redact, pattern)
	})
}

// leastAudit is the smallest log, in bytes.
const leastAudit = 1 << 20

func (f *file) auditSize(o *audit.Options, v hujson.Value, path string) {
	o.MaxSize = int64(limit(f.source, v, path, leastAudit))
}

func (f *file) auditDays(o *audit.Options, v hujson.Value, path string) {
	const most = 36500
	o.Keep = time.Duration(min(limit(f.source, v, path, 1), most)) * 24 * time.Hour
}
