//go:build unix

package stdtool_test

import (
	"encoding/json"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestConfined tries the ways out of the folder, and files that would block or
// act. All of it is refused, with the reason, and nothing outside changes.
func TestConfined(t *testing.T) {
	parent := t.TempDir()
	outside, dir := filepath.Join(parent, "outside"), filepath.Join(parent, "inside")
	write(t, outside, "secret.txt", []byte("secret\n"))
	write(t, dir, "in/file.txt", []byte("text\n"))
	write(t, dir, ".git/config", []byte("text\n"))
	write(t, dir, "sub/.git/hooks/x", []byte("text\n"))
	escapes(t, dir, outside)
	set := workspace(t, dir)
	before := tree(t, parent)
	attempts := [][3]string{}
	// Every tool that opens a file, with every path.
	arguments := map[string]string{
		"read":       "",
		"grep":       `,"pattern":"secret"`,
		"write":      `,"content":"changed"`,
		"edit":       `,"old_string":"secret","new_string":"changed"`,
		"multi_edit": `,"edits":[{"old_string":"","new_string":"changed"}]`,
	}
	for path, want := range map[string]string{
		"/etc/passwd":              "absolute path",
		outside + "/secret.txt":    "absolute path",
		"//etc/passwd":             "absolute path",
		"/":                        "absolute path",
		"../outside/secret.txt":    "outside the served folder",
		"..":                       "outside the served folder",
		"in/../../outside/new.txt": "outside the served folder",
		"in/../../../../../../etc": "outside the served folder",
		"./..//outside/secret.txt": "outside the served folder",
		"out.txt":                  "leads out of the served folder",
		"relative.txt":             "leads out of the served folder",
		"outdir/secret.txt":        "leads out of the served folder",
		"outdir/new.txt":           "leads out of the served folder",
		"outdir/new/new.txt":       "leads out of the served folder",
		"up/secret.txt":            "leads out of the served folder",
		"updir/inside/in/file.txt": "leads out of the served folder",
		"chain":                    "leads out of the served folder",
		"in/deep":                  "leads out of the served folder",
		"dangling":                 "leads out of the served folder",
		"back":                     "leads out of the served folder", // it would lead in again
		"null":                     "leads out of the served folder",
		"proc/root/etc/passwd":     "leads out of the served folder",
		"proc/environ":             "leads out of the served folder",
		"loop":                     "",
		"loops/x":                  "",
		"pipe":                     "named pipe",
		"pipelink":                 "named pipe",
		"socket":                   "socket",
		"a\x00b":                   "",
		"in/file.txt/../../..":     "outside the served folder",
		"in/file.txt/x":            "",
	} {
		for tool, rest := range arguments {
			attempts = append(attempts, [3]string{tool, `{"path":` + quoted(path) + rest + `}`, want})
		}
		attempts = append(attempts, [3]string{"move", `{"from":"in/file.txt","to":` + quoted(path) + `}`, ""})
	}
	for _, path := range []string{".git/config", ".git/hooks/pre-commit", "sub/.git/hooks/x", ".GIT/config", "in/../.git/config", "gitlink/config", ".git"} {
		for _, tool := range []string{"write", "edit", "multi_edit"} {
			attempts = append(attempts, [3]string{tool, `{"path":` + quoted(path) + arguments[tool] + `}`, "belongs to git"})
		}
	}
	attempts = append(attempts, [][3]string{
		{"move", `{"from":"/etc/passwd","to":"x"}`, "absolute path"},
		{"move", `{"from":"in/file.txt","to":"/tmp/x"}`, "absolute path"},
		{"move", `{"from":"../outside/secret.txt","to":"x"}`, "outside the served folder"},
		{"move", `{"from":"in/file.txt","to":"../x"}`, "outside the served folder"},
		{"move", `{"from":"in/file.txt","to":"in/../../x"}`, "outside the served folder"},
		{"move", `{"from":"outdir/secret.txt","to":"x"}`, "leads out of the served folder"},
		{"move", `{"from":"up/secret.txt","to":"x"}`, "leads out of the served folder"},
		{"move", `{"from":"updir/inside","to":"x"}`, "leads out of the served folder"},
		{"move", `{"from":"in/file.txt","to":"outdir/x"}`, "leads out of the served folder"},
		{"move", `{"from":"in/file.txt","to":"outdir/x/y"}`, "leads out of the served folder"},
		{"move", `{"from":"in/file.txt","to":"up/x"}`, "leads out of the served folder"},
		{"move", `{"from":".git","to":"x"}`, "belongs to git"},
		{"move", `{"from":".git/config","to":"x"}`, "belongs to git"},
		{"move", `{"from":"gitlink/config","to":"x"}`, "belongs to git"},
		{"move", `{"from":"in/file.txt","to":".GIT/hooks/x"}`, "belongs to git"},
		{"move", `{"from":"in","to":"sub/.git/x"}`, "belongs to git"},
		{"move", `{"from":"in/file.txt","to":"in/.git"}`, "belongs to git"},
		{"move", `{"from":".","to":"x"}`, "cannot be moved"},
		{"move", `{"from":"in","to":"."}`, "cannot be moved"},
		{"move", `{"from":"sub","to":"moved"}`, "belongs to git"},
		{"move", `{"from":"in","to":"in/in"}`, "or inside it"},
		{"move", `{"from":"in","to":"in"}`, "or inside it"},
		{"move", `{"from":"nothing","to":"x"}`, "does not exist"},
		{"move", `{"from":"in/file.txt","to":"sub"}`, "already exists"},
		{"move", `{"from":"in/file.txt","to":"dangling"}`, "already exists"},
		{"write", `{"path":"../new/","content":""}`, "outside the served folder"},
		{"write", `{"path":"/new/","content":""}`, "absolute path"},
		{"write", `{"path":"outdir/new/","content":""}`, "leads out of the served folder"},
		{"write", `{"path":".git/new/","content":""}`, "belongs to git"},
		{"write", `{"path":"in/","content":""}`, "already exists"},
		{"write", `{"path":"in/file.txt/x/","content":""}`, ""},
		{"write", `{"path":"new/","content":"x"}`, "leave content empty"},
		{"read", `{"path":"in"}`, "use list to see what is in it"},
		{"write", `{"path":"in","content":""}`, "is a directory"},
		{"write", `{"path":".","content":""}`, "is a directory"},
		{"glob", `{"pattern":"*","path":"outdir"}`, "leads out of the served folder"},
		{"glob", `{"pattern":"*","path":".."}`, "outside the served folder"},
		{"glob", `{"pattern":"*","path":"/etc"}`, "absolute path"},
		{"glob", `{"pattern":"/etc/*"}`, "leads out of the served folder"},
		{"glob", `{"pattern":"../*"}`, "leads out of the served folder"},
		{"glob", `{"pattern":"in/../../*"}`, "leads out of the served folder"},
		{"glob", `{"pattern":"{a,/etc}/*/../.."}`, "leads out of the served folder"},
		{"list", `{"path":"outdir"}`, "leads out of the served folder"},
		{"list", `{"path":"up"}`, "leads out of the served folder"},
		{"list", `{"path":"../outside"}`, "outside the served folder"},
		{"list", `{"path":"/"}`, "absolute path"},
		{"list", `{"path":"out.txt"}`, "leads out of the served folder"},
		{"grep", `{"pattern":"secret","glob":"../**"}`, "leads out of the served folder"},
		{"grep", `{"pattern":"secret","path":"outdir"}`, "leads out of the served folder"},
	}...)
	if len(attempts) < 40 {
		t.Errorf("only %d attempts", len(attempts))
	}
	for _, a := range attempts {
		got := call(t, set, a[0], a[1])
		if !strings.HasPrefix(got, "error") || !strings.Contains(got, a[2]) {
			t.Errorf("%s %s: got %q, want %q", a[0], a[1], got, a[2])
		}
		if strings.Contains(strings.ReplaceAll(got, quoted(outside+"/secret.txt"), ""), parent) {
			t.Errorf("%s %s tells a path of the machine: %q", a[0], a[1], got)
		}
		if after := tree(t, parent); after != before {
			t.Fatalf("%s %s changed files:\n%s\nbefore:\n%s", a[0], a[1], after, before)
		}
	}
	t.Logf("%d attempts", len(attempts))
}

// TestInside checks that what is inside can be used, and that walks do not leave.
func TestInside(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	write(t, outside, "secret.txt", []byte("secret\n"))
	write(t, dir, "in/file.txt", []byte("text\n"))
	escapes(t, dir, outside)
	set := workspace(t, dir)
	for _, tt := range [][3]string{
		{"read", `{"path":"good.txt"}`, "1  text"},
		{"read", `{"path":"./in//file.txt"}`, "1  text"},
		{"read", `{"path":"gooddir/file.txt"}`, "1  text"},
		{"glob", `{"pattern":"**/*.txt"}`, "good.txt\nin/file.txt\nout.txt\nrelative.txt\n"},
		{"grep", `{"pattern":"secret"}`, "no matches in 1 files"},
		{"grep", `{"pattern":"text","path":"good.txt"}`, "good.txt:1: text"},
		{"grep", `{"pattern":"text","path":"gooddir"}`, "gooddir/file.txt:1: text"},
		{"list", `{"path":"gooddir"}`, "gooddir/file.txt  5\n"},
		{"list", `{}`, "good.txt  symbolic link to in/file.txt\n"},
		{"list", `{}`, "null  symbolic link\n"},
		{"list", `{}`, "pipe  named pipe\n"},
		{"write", `{"path":"gooddir/new.txt","content":"x"}`, "created"},
		{"edit", `{"path":"good.txt","old_string":"text","new_string":"more"}`, "1 replaced"},
		{"read", `{"path":"in/file.txt"}`, "1  more"},
		{"write", `{"path":"gooddir/empty/a/","content":""}`, "gooddir/empty/a/: created\n"},
		{"list", `{"path":"in/empty"}`, "in/empty/a/\n"},
		{"move", `{"from":"gooddir/empty","to":"./new/folder"}`, "in/empty: moved to new/folder\n"},
		{"list", `{"path":"new/folder"}`, "new/folder/a/\n"},
		{"move", `{"from":"in/new.txt","to":"new/folder/b.txt"}`, "moved"},
		{"read", `{"path":"new/folder/b.txt"}`, "1  x"},
		{"move", `{"from":"good.txt","to":"link.txt"}`, "moved"}, // the link itself
		{"read", `{"path":"link.txt"}`, "1  more"},
	} {
		if got := call(t, set, tt[0], tt[1]); !strings.Contains(got, tt[2]) {
			t.Errorf("%s %s: got %q, want %q", tt[0], tt[1], got, tt[2])
		}
	}
}

// escapes makes what leads out of dir, and what must not be opened.
func escapes(t *testing.T, dir, outside string) {
	t.Helper()
	for link, target := range map[string]string{
		"out.txt":      filepath.Join(outside, "secret.txt"),
		"relative.txt": "../outside/secret.txt",
		"outdir":       outside,
		"up":           "../" + filepath.Base(outside),
		"updir":        "..",
		"chain":        "chain2",
		"chain2":       "out.txt",
		"in/deep":      "../../outside/secret.txt",
		"dangling":     filepath.Join(outside, "new.txt"),
		"back":         dir + "/in/file.txt",
		"null":         "/dev/null",
		"proc":         "/proc/self",
		"loop":         "loop",
		"loops":        "loops2",
		"loops2":       "loops",
		"pipelink":     "pipe",
		"gitlink":      ".git",
		"good.txt":     "in/file.txt",
		"gooddir":      "in",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir) // the name of a socket must be short
	l, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
}

// tree tells all names below dir, and what regular files hold.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		b.WriteString(path + " " + d.Type().String())
		if d.Type().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b.Write(data)
		}
		b.WriteByte('\n')
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func quoted(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw)
}
