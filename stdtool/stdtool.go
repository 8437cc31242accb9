// Package stdtool has the standard tools, such as read, edit, grep, bash and fetch: one
// file per tool, with its description in the .md beside it.
//
// The file tools are confined to a folder by [os.Root]: absolute paths, ..,
// symbolic links that lead out, devices and pipes are refused with the reason.
package stdtool

import (
	"embed"
	"strings"
	"time"

	"github.com/toolpost/toolpost"
)

// maxOutput is the most bytes that one call returns. Larger results are kept
// out of the context by several clients, from 50,000 characters on.
const maxOutput = 48_000

// maxRun is how long one call looks; it then returns what it has found.
const maxRun = 20 * time.Second

// options are the options of a tool with these annotations.
func options(title string, readOnly, destructive, idempotent, openWorld bool) *toolpost.Options {
	return &toolpost.Options{Title: title, Policy: toolpost.Policy{Sequential: !readOnly}, Annotations: toolpost.Annotations{
		ReadOnly: &readOnly, Destructive: &destructive, Idempotent: &idempotent, OpenWorld: &openWorld,
	}}
}

func readOnly(title string) *toolpost.Options {
	o := options(title, true, false, true, false)
	o.Policy.Timeout = 2 * maxRun
	return o
}

// pagedOptions are the options of a read-only tool that keeps to [maxOutput] itself.
func pagedOptions(title string) *toolpost.Options {
	o := readOnly(title)
	o.Policy.MaxOutput = -1
	return o
}

func writing(title string) *toolpost.Options {
	o := options(title, false, true, false, false)
	o.Annotations.Idempotent = nil // false is the default: definitions stay short
	o.Policy.Timeout = 2 * maxRun
	return o
}

//go:embed *.md
var descriptions embed.FS

// description returns the description of a tool for the model, which is in NAME.md.
func description(tool string) string {
	text, err := descriptions.ReadFile(tool + ".md")
	if err != nil {
		panic(err) // every tool has one
	}
	return strings.TrimSpace(string(text))
}
