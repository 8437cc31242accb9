//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestContainerFile: the images have the program as releases build it, and none runs as
// root; the small one has nothing else.
func TestContainerFile(t *testing.T) {
	text := string(read(t, "../../Dockerfile"))
	stages := strings.Split(text, "\nFROM ")
	full, small := stages[len(stages)-2], stages[len(stages)-1]
	for stage, wants := range map[string][]string{
		small: {"scratch\n", "ca-certificates.crt"},
		full:  {"node:22-", " AS full\n", "COPY --from=uv /uv /uvx ", " python3 ", "ca-certificates"},
	} {
		for _, want := range append(wants, "USER 65532:65532\nWORKDIR /data\n", `ENTRYPOINT ["/toolpost"]`, "COPY --from=build /toolpost /toolpost\n", `LABEL io.modelcontextprotocol.server.name="`+registryName("toolpost")+`"`) {
			if !strings.Contains(stage, want) {
				t.Errorf("the image lacks %q:\n%s", want, stage)
			}
		}
	}
	if !strings.Contains(text, "-trimpath") || !strings.Contains(text, "CGO_ENABLED=0") || !strings.Contains(text, "-X github.com/toolpost/toolpost/cmd/toolpost/internal/cli.released=") {
		t.Errorf("the program is not built as releases are:\n%s", text)
	}
	goVersion := ""
	for line := range strings.Lines(string(read(t, "../../go.mod"))) {
		if v, ok := strings.CutPrefix(line, "go "); ok {
			goVersion = strings.TrimSuffix(strings.TrimSpace(v), ".0")
		}
	}
	if !strings.Contains(text, "golang:"+goVersion) {
		t.Errorf("the container file does not use Go %s of go.mod", goVersion)
	}
}

// TestSmallImage runs the program with nothing but what the small image has, as its user.
func TestSmallImage(t *testing.T) {
	liveRelease(t, func(*release) error { return nil })
	m := newRoot(t, t.TempDir(), "/data", 65532)
	program, err := build()
	if err != nil {
		t.Fatal(err)
	}
	m.put("toolpost", program)
	before := m.files()
	m.tryOut("/toolpost")
	m.unchanged(before)
}

// TestAction runs the script of the GitHub Action with an npx that prints its arguments.
func TestAction(t *testing.T) {
	bash := need(t, "bash")
	_, script, ok := strings.Cut(string(read(t, "../../action.yml")), "\n      run: |\n")
	if !ok {
		t.Fatal("the action has no script")
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "npx"), []byte("#!/bin/sh\nprintf '%s\\n' \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		command, arguments string
		want               []string
	}{
		{"lint", "", []string{"--yes", "toolpost@1.2.3", "lint", "--format", "github"}},
		{"lint", "--for\nclaude-code\n--\nnode\nmy server.js\n", []string{"--yes", "toolpost@1.2.3", "lint", "--format", "github", "--for", "claude-code", "--", "node", "my server.js"}},
		{"pins", "--config\n$(touch evil); *", []string{"--yes", "toolpost@1.2.3", "pins", "verify", "--config", "$(touch evil); *"}},
		{"serve", "", nil},
	} {
		cmd := exec.Command(bash, "-e", "-o", "pipefail", "-c", script)
		cmd.Env = []string{"PATH=" + folder + ":" + os.Getenv("PATH"), "COMMAND=" + test.command, "ARGUMENTS=" + test.arguments, "VERSION=1.2.3"}
		out, err := cmd.CombinedOutput()
		if test.want == nil {
			if err == nil || !bytes.HasPrefix(out, []byte("::error::")) {
				t.Errorf("%s: %v\n%s", test.command, err, out)
			}
			continue
		}
		if got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, %v; want %q", test.command, got, err, test.want)
		}
	}
}
