package toolpost

import (
	"fmt"
	"strings"
)

// MaxNameLength is the longest tool name that every client and model accepts.
const MaxNameLength = 64

const nameChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

// CheckName tells why some client or model would refuse a tool of that name:
// the rule that all accept is 1 to 64 of A-Z a-z 0-9 _ -.
func CheckName(name string) error {
	if name == "" || len(name) > MaxNameLength {
		return fmt.Errorf("the name has %d characters, want 1 to %d", len(name), MaxNameLength)
	}
	for _, r := range name {
		if !strings.ContainsRune(nameChars, r) {
			return fmt.Errorf("the name has the character %q, want only letters, digits, _ and -", r)
		}
	}
	return nil
}
