//go:build unix

package stdtool_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestConfined tries the ways out of the folder, and files that would block.
func TestConfined(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	write(t, outside, "secret.txt", []byte("secret\n"))
	write(t, dir, "in/file.txt", []byte("text\n"))
	write(t, dir, ".git/config", []byte("text\n"))
	for link, target := range map[string]string{
		"out.txt":  filepath.Join(outside, "secret.txt"),
		"outdir":   outside,
		"up":       "../" + filepath.Base(outside),
		"loop":     "loop",
		"null":     "/dev/null",
		"good.txt": "in/file.txt",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	set := folder(t, dir)
	tests := []struct{ tool, arguments, want string }{
		{"read", `{"path":"/etc/passwd"}`, "absolute path"},
		{"read", `{"path":"../x"}`, "outside the served folder"},
		{"read", `{"path":"in/../../x"}`, "outside the served folder"},
		{"read", `{"path":"out.txt"}`, "escapes"},
		{"read", `{"path":"outdir/secret.txt"}`, "escapes"},
		{"read", `{"path":"up/secret.txt"}`, "escapes"},
		{"read", `{"path":"null"}`, "escapes"},
		{"read", `{"path":"loop"}`, "cannot be read"},
		{"read", `{"path":"pipe"}`, "named pipe"},
		{"read", `{"path":"in"}`, "look into it with list"},
		{"read", `{"path":"in/file.txt/x"}`, "cannot be read"},
		{"read", `{"path":"a\u0000b"}`, "cannot be read"},
		{"read", `{"path":"good.txt"}`, "1  text"},
		{"read", `{"path":"./in//file.txt"}`, "1  text"},
		{"glob", `{"pattern":"*","path":"outdir"}`, "escapes"},
		{"glob", `{"pattern":"*","path":".."}`, "outside the served folder"},
		{"glob", `{"pattern":"/etc/*"}`, "leads outside"},
		{"glob", `{"pattern":"../*"}`, "leads outside"},
		{"glob", `{"pattern":"**/*.txt"}`, "good.txt\nin/file.txt\nout.txt\n"},
		{"grep", `{"pattern":"secret"}`, "no line matches in 1 files"},
		{"grep", `{"pattern":"secret","path":"outdir"}`, "escapes"},
		{"grep", `{"pattern":"x","path":"pipe"}`, "named pipe"},
		{"grep", `{"pattern":"text","path":"good.txt"}`, "good.txt:1: text"},
	}
	for _, tt := range tests {
		got := call(t, set, tt.tool, tt.arguments)
		if !strings.Contains(got, tt.want) {
			t.Errorf("%s %s: got %q, want %q", tt.tool, tt.arguments, got, tt.want)
		}
		if strings.Contains(got, outside) || strings.Contains(got, dir) {
			t.Errorf("%s %s tells a path of the machine: %q", tt.tool, tt.arguments, got)
		}
	}
}
