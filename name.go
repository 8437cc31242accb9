package toolpost

import (
	"fmt"
	"strings"
)

// maxNameLength is the longest tool name that every client and model accepts.
const maxNameLength = 64

const nameChars = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"

// checkName returns an error if some client or model would refuse a tool with
// that name. All of them accept 1 to 64 characters of A-Z a-z 0-9 _ -.
func checkName(name string) error {
	for _, r := range name {
		if !strings.ContainsRune(nameChars, r) {
			return fmt.Errorf("the name has the character %q; use only A-Z, a-z, 0-9, _ and -", r)
		}
	}
	if name == "" || len(name) > maxNameLength {
		return fmt.Errorf("the name has %d characters; use 1 to %d", len(name), maxNameLength)
	}
	return nil
}
