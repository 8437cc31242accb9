package stdtool

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestIgnored checks rules by themselves; a name that ends with a slash is a folder.
func TestIgnored(t *testing.T) {
	tests := []struct {
		rules, name string
		want        bool
	}{
		{"a", "a", true},
		{"a", "x/a", true},
		{"a", "ab", false},
		{"/a", "a", true},
		{"/a", "x/a", false},
		{"a/b", "a/b", true},
		{"a/b", "x/a/b", false},
		{"a/", "a/", true},
		{"a/", "a", false},
		{"a/", "x/a/", true},
		{"*.o", "x.o", true},
		{"*.o", "x/y.o", true},
		{"*.o", "x.oo", false},
		{"*.o\n!keep.o", "keep.o", false},
		{"!keep.o\n*.o", "keep.o", true},
		{"# a", "# a", false},
		{"\\#a", "#a", true},
		{"\\!a", "!a", true},
		{"a ", "a", true},
		{"a\\ ", "a ", true},
		{"a\\ ", "a", false},
		{"a\r\nb", "a", true},
		{"\ufeffa", "a", true},
		{"", "a", false},
		{"/", "a", false},
		{"**", "a/b", true},
		{"**/b", "b", true},
		{"**/b", "a/b", true},
		{"a/**", "a/", false},
		{"a/**", "a/b", true},
		{"a/**/b", "a/b", true},
		{"a/**/b", "a/x/y/b", true},
		{"a**b/c", "axb/c", true},
		{"a**b/c", "a/b/c", false},
		{"x/*", "x/a", true},
		{"x/*", "x/a/b", false},
		{"a?c", "abc", true},
		{"x/a?c", "x/a/c", false},
		{"[a-c]", "b", true},
		{"[!a-c]", "b", false},
		{"[^a-c]", "d", true},
		{"[]a]", "]", true},
		{"[a-]", "-", true},
		{"[[:digit:]x]", "5", true},
		{"[[:none:]x]", "x", false},
		{"[a", "[a", false},
		{"a\\", "a\\", false},
		{"a\\*", "a*", true},
		{"a\\*", "ab", false},
		{"*a*a*a*a*a*a*a*a*a*b", strings.Repeat("a", 200), false},
	}
	for _, tt := range tests {
		name, folder := strings.CutSuffix(tt.name, "/")
		g := &ignores{dir: ".", rules: parseIgnores([]byte(tt.rules))}
		if got := g.isIgnored(name, folder); got != tt.want {
			t.Errorf("%q, %q: got %v", tt.rules, tt.name, got)
		}
	}
}

// TestIgnoredAsGit makes folders with random .gitignore files, and compares what
// a walk visits with what git check-ignore does not name.
func TestIgnoredAsGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	const rounds = 20
	for seed := range uint64(rounds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 7))
			dir := t.TempDir()
			files := randomTree(t, r, dir)
			want := notIgnored(t, dir, files)
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			var got []string
			w := walk{root: root, visit: func(_ context.Context, e entry) error {
				got = append(got, e.name)
				return nil
			}}
			if _, err := w.run(t.Context(), "."); err != nil {
				t.Fatal(err)
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				for _, name := range files {
					if slices.Contains(got, name) != slices.Contains(want, name) {
						t.Errorf("%s: visited %v, git ignores it: %v", name, slices.Contains(got, name), !slices.Contains(want, name))
					}
				}
				for _, name := range files {
					if filepath.Base(name) == ".gitignore" {
						data, _ := os.ReadFile(filepath.Join(dir, name))
						t.Logf("%s:\n%s", name, data)
					}
				}
			}
		})
	}
}

// randomTree returns the names of all files and folders that it makes.
func randomTree(t *testing.T, r *rand.Rand, dir string) []string {
	names := []string{"a", "b", "ab", "ba", "a.b", "aab", "b.a", "c", "[a", "a b", "a-b", "!a", "#b", "a*"}
	folders := []string{"."}
	all := map[string]bool{}
	for range 60 {
		in := folders[r.IntN(len(folders))]
		name := filepath.Join(in, names[r.IntN(len(names))])
		if all[name] {
			continue
		}
		all[name] = true
		var err error
		if r.IntN(2) == 0 {
			err = os.Mkdir(filepath.Join(dir, name), 0o755)
			folders = append(folders, name)
		} else {
			err = os.WriteFile(filepath.Join(dir, name), nil, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, in := range folders {
		if i > 0 && r.IntN(3) > 0 {
			continue
		}
		name := filepath.Join(in, ".gitignore")
		all[name] = true
		if err := os.WriteFile(filepath.Join(dir, name), randomRules(r), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return slices.Collect(maps.Keys(all))
}

func randomRules(r *rand.Rand) []byte {
	parts := []string{"a", "b", "c", ".", "*", "*", "**", "?", "/", "/", "**/", "/**", "[ab]", "[!a]", "[^b", "[a-c]", "[[:alpha:]]", "[]-a]", `\`, `\*`, " ", `\ `, "!", "#", "-"}
	var b strings.Builder
	for range r.IntN(6) {
		if r.IntN(4) == 0 {
			b.WriteByte('!')
		}
		for range 1 + r.IntN(5) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		b.WriteString([]string{"\n", "\n", "/\n", "\r\n", " \n"}[r.IntN(5)])
	}
	return []byte(b.String())
}

// notIgnored asks git.
func notIgnored(t *testing.T, dir string, files []string) []string {
	git := func(stdin string, arguments ...string) string {
		cmd := exec.Command("git", arguments...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
		cmd.Env = []string{"HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "PATH=" + os.Getenv("PATH")}
		out, err := cmd.Output()
		if exit, ok := err.(*exec.ExitError); err != nil && !(ok && exit.ExitCode() == 1) {
			t.Fatalf("git %v: %v", arguments, err)
		}
		return string(out)
	}
	git("", "init", "-q")
	ignored := strings.Split(git(strings.Join(files, "\x00")+"\x00", "check-ignore", "-z", "--no-index", "--stdin"), "\x00")
	var kept []string
	for _, name := range files {
		if !slices.Contains(ignored, name) {
			kept = append(kept, name)
		}
	}
	return kept
}

// A line made to take long is read in time that grows with its length only.
func TestIgnoredHostile(t *testing.T) {
	const n = maxIgnore / 2
	for _, rules := range []string{strings.Repeat("[:", n), "*[" + strings.Repeat("[:", n), "*[" + strings.Repeat("[:", n-2) + "b]", strings.Repeat("*a", n)} {
		g := &ignores{dir: ".", rules: parseIgnores([]byte(rules))}
		if g.isIgnored(strings.Repeat("a", 255)+"c", false) {
			t.Errorf("%.10s… matches", rules)
		}
	}
}

// FuzzWildcard checks that no rule takes long or panics, and that escaped names
// match only themselves.
func FuzzWildcard(f *testing.F) {
	for _, s := range [][2]string{{"**/a*[!b-]?", "x/abc"}, {"[[:alpha:]", "["}, {`\`, `\`}, {"a/**/b", "a/b"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, rules, name string) {
		g := &ignores{dir: ".", rules: parseIgnores([]byte(rules))}
		g.isIgnored(name, false)
		var b strings.Builder
		for i := range len(rules) {
			b.WriteByte('\\')
			b.WriteByte(rules[i])
		}
		w, _ := newWildcard(b.String(), true)
		if got, _ := w.match(name, false); got != (rules == name) {
			t.Errorf("%q as it is matches %q: %v", rules, name, got)
		}
	})
}

// TestIgnoredInNestedRepository checks that the .git/info/exclude of a repository
// below the served folder counts in it, also where it has no .gitignore.
func TestIgnoredInNestedRepository(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"x.log": "", "sub/.git/info/exclude": "*.log\n", "sub/x.log": "", "sub/keep": "", "sub/in/x.log": "",
		"two/.gitignore": "!*.log\n", "two/.git/info/exclude": "*\n", "two/x.log": "", "two/x": "",
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for from, want := range map[string]string{".": "sub sub/in sub/keep two two/x.log x.log", "sub/in": ""} {
		var got []string
		w := walk{root: root, visit: func(_ context.Context, e entry) error {
			got = append(got, e.name)
			return nil
		}}
		if _, err := w.run(t.Context(), from); err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("from %s: visited %s, want %s", from, text, want)
		}
	}
}
