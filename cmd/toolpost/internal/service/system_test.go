package service

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// TestPrograms: what the programs of the three systems are told.
func TestPrograms(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs are scripts of a shell")
	}
	dir, uid := t.TempDir(), strconv.Itoa(os.Getuid())
	calls := filepath.Join(dir, "calls")
	const script = `#!/bin/sh
echo "${0##*/} $*" >>"$CALLS"
case "$*" in
*bootout*) echo 'No such process' >&2; exit 3 ;;
*Linger*) echo no ;;
*ActiveState*) echo active ;;
"print gui/"*/*) echo '	state = running' ;;
esac
`
	for _, name := range []string{"systemctl", "loginctl", "launchctl", "schtasks"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	t.Setenv("CALLS", calls)
	for _, test := range []struct {
		system system
		state  state
		want   string
	}{
		{&systemd{dir}, running, `systemctl --user show-environment
systemctl --user daemon-reload
systemctl --user enable FILE
systemctl --user restart toolpost.service
systemctl --user show --property=ActiveState --value toolpost.service
loginctl show-user UID --property=Linger --value
systemctl --user disable --now toolpost.service
systemctl --user daemon-reload
`},
		{&launchd{dir}, running, `launchctl print gui/UID
launchctl bootout gui/UID/io.github.toolpost.toolpost
launchctl enable gui/UID/io.github.toolpost.toolpost
launchctl bootstrap gui/UID FILE
launchctl print gui/UID/io.github.toolpost.toolpost
launchctl bootout gui/UID/io.github.toolpost.toolpost
launchctl print gui/UID/io.github.toolpost.toolpost
`},
		{&scheduler{settings: dir}, unknown, `schtasks /Create /TN Toolpost /XML FILE /F
schtasks /End /TN Toolpost
schtasks /Run /TN Toolpost
schtasks /End /TN Toolpost
schtasks /Delete /TN Toolpost /F
`},
	} {
		s, ctx := test.system, t.Context()
		if err := os.MkdirAll(filepath.Dir(s.file()), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.file(), []byte(mark), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.check(ctx); err != nil {
			t.Error(err)
		}
		if err := s.start(ctx); err != nil {
			t.Error(err)
		}
		if got := s.state(ctx); got != test.state {
			t.Errorf("%T is %s", s, got)
		}
		if hint := s.hint(ctx); strings.Contains(hint, "enable-linger") != strings.Contains(test.want, "Linger") {
			t.Errorf("%T: hint %q", s, hint)
		}
		err := s.remove(ctx)
		if _, is := s.(*launchd); is { // the agent runs, and its end fails
			if err == nil || !strings.Contains(err.Error(), "No such process") {
				t.Error(err)
			}
		} else if err != nil || exists(s.file()) {
			t.Errorf("%T: %v", s, err)
		}
		got, err := os.ReadFile(calls)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer(s.file(), "FILE", "gui/"+uid, "gui/UID", "show-user "+uid, "show-user UID").Replace(string(got))
		if text != test.want {
			t.Errorf("%T:\n%swant\n%s", s, text, test.want)
		}
		if err := os.Remove(calls); err != nil {
			t.Fatal(err)
		}
	}
}
