package service

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A job is the process that the system keeps running for the user.
type job struct {
	Command   []string // the program, as an absolute path, and its arguments
	Folder    string   // in which it runs
	Variables []string // NAME=VALUE, none of them secret
	Secrets   string   // a file of further variables, which may be missing
	Log       string   // the file that gets what is written to standard error
}

// check refuses text that one of the systems would read in another way.
func (j *job) check() error {
	for _, text := range append(append([]string{j.Folder, j.Secrets, j.Log}, j.Command...), j.Variables...) {
		if !utf8.ValidString(text) || strings.ContainsFunc(text, isUnfit) {
			return fmt.Errorf("%q has characters that the description of a service cannot have; use another path or value", text)
		}
	}
	return nil
}

// isUnfit reports whether a character ends a line, or is none in XML.
func isUnfit(r rune) bool {
	return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == '\ufffe' || r == '\uffff'
}
