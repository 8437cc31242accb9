package procgroup

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestBatchLine(t *testing.T) {
	for arg, want := range map[string]string{
		"plain-1.0":      `plain-1.0`,
		`C:\Users\me`:    `C:\Users\me`,
		"":               `""`,
		"two words":      `"two words"`,
		`folder\`:        `"folder\\"`,
		`say "hi"`:       `"say ""hi"""`,
		`a\"b`:           `"a\\""b"`,
		"a&calc":         `"a&calc"`,
		`"&calc`:         `"""&calc"`,
		"a|b>c<d^e(f)":   `"a|b>c<d^e(f)"`,
		"%PATH%":         `"%%cd:~,%PATH%%cd:~,%"`,
		"100%":           `"100%%cd:~,%"`,
		"!PATH!":         `"!PATH!"`,
		"a,b;c=d":        `"a,b;c=d"`,
		"日本":             `"日本"`,
		`{"a": "b\\c"}`:  `"{""a"": ""b\\c""}"`,
		`{"a": "b\\"}`:   `"{""a"": ""b\\\\""}"`,
		"tab\tand~tilde": "\"tab\tand~tilde\"",
	} {
		got, err := batchLine(`C:\a b\npx.cmd`, []string{arg, "last"})
		if want = `cmd.exe /e:ON /v:OFF /d /s /c ""C:\a b\npx.cmd" ` + want + ` last"`; got != want || err != nil {
			t.Errorf("%q: %s, %v; want\n%s", arg, got, err, want)
		}
	}
	for _, bad := range []string{"a\nb", "a\rb", "a\x00b"} {
		if got, err := batchLine("a.cmd", []string{bad}); err == nil {
			t.Errorf("%q: %s", bad, got)
		}
	}
	for _, bad := range []string{`a".cmd`, "%A%.cmd", "a\n.cmd"} {
		if got, err := batchLine(bad, nil); err == nil {
			t.Errorf("%q: %s", bad, got)
		}
	}
	for path, want := range map[string]bool{`npx.cmd`: true, `A.BAT`: true, `a.cmd. .`: true, `a.exe`: false, `cmd`: false, `a.cmd.exe`: false} {
		if isBatch(path) != want {
			t.Errorf("%s is a batch file: %v", path, !want)
		}
	}
}

// TestBatchArguments runs a batch file that passes its arguments to this test, as those
// of npm do.
func TestBatchArguments(t *testing.T) {
	if list := os.Getenv("TOOLPOST_TEST_ARGUMENTS"); list != "" {
		data, err := json.Marshal(os.Args[slices.Index(os.Args, "--")+1:])
		if err != nil || os.WriteFile(list, data, 0o600) != nil {
			t.Fatal(err)
		}
		return
	}
	if runtime.GOOS != "windows" {
		t.Skip("batch files are of Windows")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "a folder")
	script, list := filepath.Join(dir, "shim.cmd"), filepath.Join(dir, "arguments.json")
	text := "@ECHO off\r\n\"" + exe + "\" -test.run=^TestBatchArguments$ -- %*\r\n"
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	// Go programs read "" within quotes in the way of before 2008, and the cmd.exe of
	// Wine expands %NAME% whatever is done about it: TestBatchLine has both.
	args := []string{"plain", "", "two words", `folder\`, "say hi & exit 3", "a^b", "a&b|c>d", "(x) <y>", "!PATH!", "日本"}
	cmd := exec.Command(script, args...)
	cmd.Env = append(os.Environ(), "TOOLPOST_TEST_ARGUMENTS="+list)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	ended := make(chan error, 1)
	if err := Start(cmd, func(err error) { ended <- err }); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	data, err := os.ReadFile(list)
	var got []string
	if err != nil || json.Unmarshal(data, &got) != nil || !slices.Equal(got, args) {
		t.Errorf("the program got %s, %v; want %q", strings.TrimSpace(string(data)), err, args)
	}
}
