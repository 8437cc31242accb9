package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// FindConfiguration returns the configuration that a command uses; see [owner.Find].
func FindConfiguration(ctx context.Context, path string, p *Prompter) (*config.Config, error) {
	return owner.Find(ctx, path, func(ctx context.Context, r *owner.Review) error { return Approve(ctx, p, r) })
}

// Approve has the user approve a file, which is remembered; a no is an error.
func Approve(ctx context.Context, p *Prompter, r *owner.Review) error {
	if !p.Terminal {
		return Usagef("%s %s, and there is no terminal to ask you; it decides which programs run and which addresses are contacted: "+
			"read it, then run \"toolpost trust\" in its folder, or name it with --config %s", r.File, r.State(), cleartext.ShellWord(r.File))
	}
	_, _ = io.WriteString(p.Out, warnIfLong(p.Out, r.Text()))
	yes, err := p.Ask(ctx, "Do you know these programs and addresses? May toolpost use this file?")
	switch {
	case err != nil:
		return err
	case !yes:
		return WrapUsage(errors.New("the configuration is not approved; nothing was started"))
	}
	return r.Approve()
}

// tooManyRows is more than some terminals keep to scroll back to.
const tooManyRows = 1000

// warnLong returns a warning if the beginning of a text has scrolled off the
// screen, otherwise "". One long argument is enough for that.
func warnLong(text string, width, height int) string {
	rows := 0
	for line := range strings.Lines(text) {
		rows += 1 + len(line)/max(width, 1) // at least as many as there are
	}
	switch {
	case rows > tooManyRows:
		return fmt.Sprintf("\nThese are about %d lines on the screen, which may not keep all of them; read the file itself.\n", rows)
	case rows+questionRows > height:
		return fmt.Sprintf("\nThese are about %d lines on the screen; scroll up to read all of them.\n", rows)
	}
	return ""
}

// questionRows is the height of the question after the text.
const questionRows = 2

// warnIfLong returns a text with a warning if it is longer than the screen of w.
func warnIfLong(w io.Writer, text string) string {
	width, height := terminal.Size(w)
	if width == 0 {
		width, height = 80, 24
	}
	return text + warnLong(text, width, height)
}
