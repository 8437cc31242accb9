package service

import (
	"context"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// label is the name of the agent of launchd.
const label = "io.github.toolpost.toolpost"

// launchd runs the job as an agent of the user.
type launchd struct{ home string }

func (l *launchd) file() string {
	return filepath.Join(l.home, "Library", "LaunchAgents", label+".plist")
}

func (l *launchd) log() string { return filepath.Join(l.home, "Library", "Logs", "toolpost.log") }

// session is the domain of the user who is at the screen.
func (l *launchd) session() string { return "gui/" + strconv.Itoa(os.Getuid()) }

func (l *launchd) check(ctx context.Context) error {
	if _, err := run(ctx, "launchctl", "print", l.session()); err != nil {
		return fmt.Errorf("there is no session of this user at the screen: %w. Log in there first", err)
	}
	return nil
}

// encode writes the property list.
func (l *launchd) encode(j *job) ([]byte, error) {
	if err := j.check(); err != nil {
		return nil, err
	}
	var b strings.Builder
	b.WriteString(xml.Header + `<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>Label</key>
	<string>` + label + `</string>
	<key>ProgramArguments</key>
	<array>
`)
	for _, word := range j.Command {
		b.WriteString("\t\t<string>" + escapeXML(word) + "</string>\n")
	}
	b.WriteString("\t</array>\n\t<key>EnvironmentVariables</key>\n\t<dict>\n")
	for _, v := range j.Variables {
		name, value, _ := strings.Cut(v, "=")
		b.WriteString("\t\t<key>" + escapeXML(name) + "</key>\n\t\t<string>" + escapeXML(value) + "</string>\n")
	}
	b.WriteString("\t</dict>\n\t<key>WorkingDirectory</key>\n\t<string>" + escapeXML(j.Folder) + "</string>\n")
	b.WriteString("\t<key>StandardErrorPath</key>\n\t<string>" + escapeXML(j.Log) + "</string>\n")
	b.WriteString(`	<key>RunAtLoad</key>
	<true/>
	<key>KeepAlive</key>
	<dict>
		<key>SuccessfulExit</key>
		<false/>
	</dict>
</dict>
</plist>
`)
	return []byte(b.String()), nil
}

func escapeXML(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder never fails
	return b.String()
}

// The end of the agent before may take a moment, in which launchd does not load it again.
const (
	loadAttempts = 20
	loadPause    = 500 * time.Millisecond
)

func (l *launchd) start(ctx context.Context) error {
	target := l.session() + "/" + label
	_, _ = run(ctx, "launchctl", "bootout", target) // it may not be loaded
	if _, err := run(ctx, "launchctl", "enable", target); err != nil {
		return err
	}
	for i := 1; ; i++ {
		_, err := run(ctx, "launchctl", "bootstrap", l.session(), l.file())
		if err == nil || i == loadAttempts {
			return err
		}
		select {
		case <-time.After(loadPause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (l *launchd) remove(ctx context.Context) error {
	if _, err := run(ctx, "launchctl", "bootout", l.session()+"/"+label); err != nil && l.state(ctx) == running {
		return err
	}
	return os.Remove(l.file())
}

func (l *launchd) state(ctx context.Context) state {
	text, err := run(ctx, "launchctl", "print", l.session()+"/"+label)
	switch {
	case err != nil:
		return stopped
	case strings.Contains(text, "state = running"):
		return running
	}
	return unknown
}

func (l *launchd) hint(context.Context) string { return "" }
