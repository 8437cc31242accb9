package redmine

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
)

// segment checks a text that becomes one segment of a path: letters, digits and
// "._-" only, as in Redmine's own routes. A proxy may decode and fold anything else.
func segment(what, text string) (string, error) {
	text = strings.TrimSpace(text)
	other := strings.ContainsFunc(text, func(r rune) bool {
		return r > '~' || !strings.ContainsRune("._-", r) && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	})
	if text == "" || other || strings.Trim(text, ".") == "" {
		return "", toolpost.Retry("%q is not %s: give only letters, digits, points, hyphens and underscores, as in the address of its page.", text, what)
	}
	return text, nil
}

// checkPath refuses a path that a proxy in front of Redmine may fold into another
// one: with a segment "." or "..", however encoded. It is the last line of defence
// behind the checks of each tool.
func checkPath(path string) error {
	path, _, _ = strings.Cut(path, "?")
	for _, raw := range strings.Split(path, "/") {
		text := raw
		for {
			decoded, err := url.PathUnescape(text)
			if err != nil || decoded == text {
				break
			}
			text = decoded
		}
		for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == '\\' }) {
			name, _, _ := strings.Cut(part, ";")
			if name == "." || name == ".." {
				return fmt.Errorf("the request to %s was not sent: %q in a path can lead to another address", path, name)
			}
		}
		if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return fmt.Errorf("the request to %q was not sent: a path cannot contain control characters", path)
		}
	}
	return nil
}
