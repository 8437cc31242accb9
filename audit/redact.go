package audit

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/toolpost/toolpost/internal/access/trail"
	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/secret"
	"github.com/toolpost/toolpost/internal/wire"
)

// maxValue is the longest value that is recorded, in bytes.
const maxValue = 256 << 10

// Check returns an error if a pattern of Redact is not valid.
func (o *Options) Check() error {
	for _, pattern := range o.Redact {
		if strings.Trim(pattern, "/") == "" {
			return fmt.Errorf(`%q names no argument; write a name such as "email", or a JSON pointer such as "/customer/phone"`, pattern)
		}
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf(`%q is not a pattern: %w`, pattern, err)
		}
	}
	return nil
}

// A redactor hides secrets in arguments and results.
type redactor struct {
	patterns []string
	hide     func(text string) string
}

func newRedactor(o *Options) (*redactor, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	return &redactor{o.Redact, secret.Hider(o.Secrets, o.Hide)}, nil
}

// name returns the name of a tool or the address of a resource, which may contain
// a password, without its secrets.
func (r *redactor) name(s string) string {
	const enough = 4 << 10 // bytes; more than are recorded, so that no secret is cut in them
	return trail.Clip(secret.RedactText(r.hide(s[:min(len(s), enough)])))
}

// json returns a JSON value without its secrets.
func (r *redactor) json(raw json.RawMessage) json.RawMessage {
	switch {
	case len(raw) == 0:
		return nil
	case len(raw) > maxValue:
		return trail.TooLong(len(raw))
	case !wire.Valid(raw):
		return wire.Quote("[not valid JSON]")
	}
	clear, _ := secret.RedactJSON(raw, &secret.JSONOptions{Member: r.hides, Text: r.hide})
	if len(clear) > maxValue || !json.Valid(clear) {
		return trail.TooLong(len(raw))
	}
	return clear
}

// hides reports whether a pattern matches a member.
func (r *redactor) hides(pointer string) bool {
	segments := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, s := range segments {
		segments[i] = strings.ReplaceAll(jsontree.UnescapePointer(s), "/", "\x00") // a slash is part of a name
	}
	whole, name := "/"+strings.Join(segments, "/"), segments[len(segments)-1]
	for _, p := range r.patterns {
		subject := name
		if strings.HasPrefix(p, "/") {
			subject = whole
		}
		if ok, _ := path.Match(p, subject); ok {
			return true
		}
	}
	return false
}
