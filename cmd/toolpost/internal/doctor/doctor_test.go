package doctor_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/doctor"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
)

// ids returns the findings as "severity id line".
func ids(findings []doctor.Finding) (all []string) {
	for i := range findings {
		all = append(all, string(findings[i].Severity)+" "+findings[i].ID)
	}
	return all
}

// TestWideNames: characters that take two columns do not move the columns after them.
func TestWideNames(t *testing.T) {
	r := doctor.NewReport("x")
	r.Servers = append(r.Servers, doctor.Server{Name: "天気予報", State: "ready"}, doctor.Server{Name: "files", State: "ready"})
	var b bytes.Buffer
	if err := r.WriteText(&b, false); err != nil {
		t.Fatal(err)
	}
	if text := b.String(); !strings.Contains(text, "\n天気予報  ready") || !strings.Contains(text, "\nfiles     ready") {
		t.Errorf("%s", text)
	}
}

func TestConfigurationFinds(t *testing.T) {
	const env, password = "ghp_abcdefghijklmnop1234", "hunter2hunter2"
	tests := []struct{ name, text, want string }{
		{"clean", `{"mcpServers": {"a": {"command": "x", "env": {"TOKEN": "${PATH}", "AUTH_MODE": "disabled", "KEY_FILE": "/run/key"}}}}`, ""},
		{"syntax", `{"mcpServers": {`, "error config-invalid"},
		{"unknown key", `{"mcpServers": {"a": {"comand": "x"}}}`, "error config-invalid"},
		{"unset", `{"mcpServers": {"a": {"command": "${NOT_SET_ANYWHERE}"}}}`, "error variable-unset"},
		{"unset and disabled", `{"mcpServers": {"a": {"command": "${NOT_SET_ANYWHERE}", "disabled": true}}}`, "warning variable-unset"},
		{"ignored", `{"mcpServers": {"a": {"command": "x", "autoApprove": []}}}`, "warning key-ignored"},
		{"secret variable", `{"mcpServers": {"a": {"command": "x", "env": {"A": "` + env + `"}}}}`, "warning secret-in-file"},
		{"secret header", `{"servers": {"a": {"url": "http://x", "headers": {"Authorization": "Bearer ` + env + `"}}}}`, "warning secret-in-file"},
		{"secret argument", `{"mcpServers": {"a": {"command": "x", "args": ["--verbose", "--token=` + env + `"]}}}`, "warning secret-in-file"},
		{"secret address", `{"mcpServers": {"a": {"url": "http://me:` + password + `@x/"}}}`, "warning secret-in-file"},
		{"secrets of a login", `{"mcpServers": {"a": {"url": "https://x", "auth": {"type": "token_exchange", "clientId": "me", "clientSecret": "plain-secret-1", "issuer": "https://as", "exchange": {"issuer": "https://idp", "clientId": "i", "clientSecret": "${keyring:a}", "subjectToken": "plain-secret-2"}}}}}`, "warning secret-in-file, warning secret-in-file"},
		{"secret of a Redmine", `{"mcpServers": {"a": {"type": "redmine", "url": "http://x", "apiKey": "0123456789abcdef0123456789abcdef01234567"}}}`, "warning secret-in-file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "toolpost.json")
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, findings := doctor.Configuration(file, []byte(tt.text))
			if got := strings.Join(ids(findings), ", "); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			for _, f := range findings {
				if strings.Contains(f.Message+f.Fix, env) || strings.Contains(f.Message+f.Fix, password) {
					t.Errorf("a finding shows the secret: %+v", f)
				}
				if f.Line != 1 || f.Column < 1 {
					t.Errorf("the finding has no place: %+v", f)
				}
			}
		})
	}
}

func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes do not decide on Windows")
	}
	file := filepath.Join(t.TempDir(), "toolpost.json")
	text := []byte(`{"mcpServers": {"a": {"command": "x", "env": {"A": "ghp_abcdefghijklmnop1234"}}}}`)
	for mode, want := range map[os.FileMode]string{
		0o600: "warning secret-in-file",
		0o644: "warning secret-in-file, warning file-readable",
		0o666: "warning secret-in-file, error file-writable, warning file-readable",
	} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
		_, findings := doctor.Configuration(file, text)
		if got := strings.Join(ids(findings), ", "); got != want {
			t.Errorf("%o: got %q, want %q", mode, got, want)
		}
	}
}

func TestWriteFindings(t *testing.T) {
	var findings []doctor.Finding
	for range 8 {
		findings = append(findings, doctor.Finding{ID: "x", Severity: doctor.Warning, Message: "foreign \x1b[31m text"})
	}
	findings = append(findings, doctor.Finding{ID: "n", Severity: doctor.Note, Message: "note"}, doctor.Finding{ID: "e", Severity: doctor.Error, Message: "bad"})
	write := func(all bool) string {
		var b bytes.Buffer
		p := terminal.NewPage(&b)
		doctor.WriteFindings(p, findings, all)
		if err := p.Flush(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	short, long := write(false), write(true)
	if !strings.HasPrefix(strings.TrimSpace(short), "error") || strings.Count(short, "foreign") != 5 || !strings.Contains(short, "4 findings more; --all") {
		t.Errorf("short:\n%s", short)
	}
	if strings.Count(long, "foreign") != 8 || !strings.Contains(long, "note") || strings.Contains(long, "more;") {
		t.Errorf("long:\n%s", long)
	}
	if strings.Contains(long, "\x1b") {
		t.Error("foreign text can control the terminal")
	}
}

// TestScreen compares what a person sees with testdata/report.txt, which docs/doctor.md
// shows.
func TestScreen(t *testing.T) {
	r := doctor.NewReport("toolpost.json")
	r.Tools, r.Tokens = make([]doctor.Tool, 40), 8698
	r.Servers = []doctor.Server{
		{Name: "everything", State: "ready", Transport: "stdio", Tools: 17, StartMS: 1100},
		{Name: "files", State: "ready", Transport: "stdio", Tools: 14, StartMS: 1500},
		{Name: "memory", State: "ready", Transport: "stdio", Tools: 9, StartMS: 1400},
		{Name: "broken", State: "failed", Transport: "stdio"},
	}
	r.Add(doctor.Finding{
		ID: "server-failed", Severity: doctor.Error, Server: "broken",
		Message: `command "no-such-program" is not found; install it, or give its full path as the command`,
		Fix:     `correct mcpServers.broken, or add "disabled": true to it; the other servers are served meanwhile`,
	})
	var got bytes.Buffer
	if err := r.WriteText(&got, false); err != nil {
		t.Fatal(err)
	}
	const file = "testdata/report.txt"
	if os.Getenv("TOOLPOST_UPDATE") != "" {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if diff := cmp.Diff(string(want), got.String()); err != nil || diff != "" {
		t.Errorf("%s: %v\n%s", file, err, diff)
	}
}
