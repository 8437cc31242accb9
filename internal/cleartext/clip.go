package cleartext

import "strings"

// Clip returns a text of at most max bytes as it is, and of a longer one the first
// max bytes, without a broken character, and "…".
func Clip(text string, max int) string {
	if len(text) <= max {
		return text
	}
	return strings.ToValidUTF8(text[:max], "") + "…"
}
