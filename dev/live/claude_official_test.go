//go:build unix

package live

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// An officialSDK is an Agent SDK whose names docs/evidence/claude-sdks.md must have.
type officialSDK struct {
	stated  *regexp.Regexp // the version, on the page
	needs   string         // a command
	newest  []string       // the command that tells the newest version, between parentheses or alone
	fetch   []string       // the command that fetches a version, %s, into the working directory
	archive string
	unpack  func(archive string) (fs.FS, error)
	files   []string // those of the archive that have the names
	names   []nameRule
}

// A nameRule finds names: in the text of a file, or in the part from begin to end.
type nameRule struct {
	what, file, begin, end string
	name                   string                     // a regular expression
	find                   func(text string) []string // in place of name
	known                  func(name string) bool     // that the page has the name if nil
}

// all returns the names in a text; nil if its form has changed.
func (r *nameRule) all(text string) (names []string) {
	_, part, found := strings.Cut(text, r.begin)
	if r.end != "" {
		part, _, _ = strings.Cut(part, r.end)
	}
	switch {
	case !found:
		return nil
	case r.find != nil:
		return r.find(part)
	}
	for _, m := range regexp.MustCompile(r.name).FindAllStringSubmatch(part, -1) {
		names = append(names, m[1])
	}
	return names
}

func officialSDKs(page func(string) bool) map[string]officialSDK {
	return map[string]officialSDK{
		"TypeScript": {
			stated: regexp.MustCompile("`@anthropic-ai/claude-agent-sdk` ([0-9.]+)"), needs: "npm",
			newest:  []string{"npm", "view", "@anthropic-ai/claude-agent-sdk", "version"},
			fetch:   []string{"npm", "pack", "--silent", "@anthropic-ai/claude-agent-sdk@%s"},
			archive: "*.tgz", unpack: untar, files: []string{"package/sdk.d.ts"},
			names: append(claudeWords(page), []nameRule{
				{what: "export", file: "sdk.d.ts", name: `(?m)^export declare (?:abstract )?(?:const|function|class|type|interface|enum) (\w+)`},
				{what: "option", file: "sdk.d.ts", begin: "export declare type Options = {", end: "\n};", name: `(?m)^    (\w+)\??:`},
				{what: "member of an agent", file: "sdk.d.ts", begin: "export declare type AgentDefinition = {", end: "\n};", name: `(?m)^    (\w+)\??:`},
				{what: "method of a query", file: "sdk.d.ts", begin: "export declare interface Query ", end: "\n}", name: `(?m)^    (\w+)\(`},
				{what: "message", file: "sdk.d.ts", begin: "export declare type SDKMessage = ", end: ";", name: `(\w+)`},
			}...),
		},
		"API": { // of which the blocks and events are
			stated: regexp.MustCompile("`@anthropic-ai/sdk` ([0-9.]+)"), needs: "npm",
			newest:  []string{"npm", "view", "@anthropic-ai/sdk", "version"},
			fetch:   []string{"npm", "pack", "--silent", "@anthropic-ai/sdk@%s"},
			archive: "*.tgz", unpack: untar, files: []string{"package/resources/beta/messages/messages.d.ts"},
			names: apiWords(),
		},
		"Python": {
			stated: regexp.MustCompile("`claude-agent-sdk` ([0-9.]+)"), needs: "python3",
			newest:  []string{"python3", "-m", "pip", "index", "versions", "claude-agent-sdk"},
			fetch:   []string{"python3", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "claude-agent-sdk==%s"},
			archive: "*.whl", unpack: func(archive string) (fs.FS, error) { return zip.OpenReader(archive) },
			files: []string{"claude_agent_sdk/__init__.py", "claude_agent_sdk/types.py", "claude_agent_sdk/client.py", "claude_agent_sdk/_internal/message_parser.py"},
			names: append(pythonWords(), []nameRule{
				{what: "export", file: "__init__.py", begin: "\n__all__ = [", end: "\n]", name: `"(\w+)"`},
				{what: "option", file: "types.py", begin: "\nclass ClaudeAgentOptions:", end: "\n\n\n", name: `(?m)^    ([a-z]\w*): `},
				{what: "member of an agent", file: "types.py", begin: "\nclass AgentDefinition:", end: "\n\n\n", name: `(?m)^    ([a-z]\w*): `},
				{what: "method of the client", file: "client.py", begin: "\nclass ClaudeSDKClient:", end: "\n\n\n", name: `(?m)^    (?:async )?def ([a-z]\w*)\(`},
			}...),
		},
	}
}

// TestOfficialClaudeSDKs compares docs/evidence/claude-sdks.md, and the lists of names of package
// claude and those below, with the types that the official SDKs publish. All names of the
// versions that the page states must be known. If a newer version has more, the test fails
// as well, with their names, but for CI: a release of others must not stop a change.
func TestOfficialClaudeSDKs(t *testing.T) {
	cache := os.Getenv("TOOLPOST_LIVE")
	if cache == "" {
		t.Skip(`TOOLPOST_LIVE is not set: "make live" sets it and runs this`)
	}
	text, err := os.ReadFile("../../docs/evidence/claude-sdks.md")
	if err != nil {
		t.Fatal(err)
	}
	page := namesOnPage(string(text))
	if page("NoSuchName") {
		t.Fatal("the page has a pattern that every name matches")
	}
	for language, sdk := range officialSDKs(page) {
		t.Run(language, func(t *testing.T) {
			stated := sdk.stated.FindSubmatch(text)
			if stated == nil {
				t.Fatalf("the page does not state a version: %s", sdk.stated)
			}
			if _, err := exec.LookPath(sdk.needs); err != nil {
				t.Skipf("%s is not installed, which fetches the SDK", sdk.needs)
			}
			version := string(stated[1])
			folder := filepath.Join(cache, "official", language+"-")
			unknown, n, err := sdk.unknown(folder, version, page)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range unknown {
				t.Errorf("version %s has the %s: add it here and to the page", version, name)
			}
			t.Logf("%d names of version %s are compared", n, version)
			out, err := exec.Command(sdk.newest[0], sdk.newest[1:]...).Output()
			newest := regexp.MustCompile(`\b\d+\.\d+\.\d+\b`).FindString(string(out))
			if newest == version || err != nil {
				t.Logf("the newest version is %s (%v)", newest, err)
				return
			}
			newer, _, err := sdk.unknown(folder, newest, page)
			if err != nil {
				t.Logf("version %s: %v", newest, err)
			}
			report := t.Errorf
			if os.Getenv("CI") != "" {
				report = t.Logf
			}
			for _, name := range newer {
				report("the newest version, %s, has the %s: add it here and to the page, with the version", newest, name)
			}
		})
	}
}

// namesOnPage returns whether a name is in the code of the page, where * stands for
// any letters.
func namesOnPage(page string) func(name string) bool {
	names := map[string]bool{}
	var patterns []string
	for _, code := range regexp.MustCompile("`[^`\n]+`").FindAllString(page, -1) {
		for _, name := range regexp.MustCompile(`[\w*]+`).FindAllString(code, -1) {
			if names[name] = true; strings.Contains(name, "*") {
				patterns = append(patterns, name)
			}
		}
	}
	return func(name string) bool {
		return names[name] || slices.ContainsFunc(patterns, func(p string) bool {
			matched, _ := path.Match(p, name) // a pattern of letters and stars is well-formed
			return matched
		})
	}
}

// unknown returns the names of a version that are not known, each after what it is, and
// how many names there are.
func (o *officialSDK) unknown(folder, version string, page func(string) bool) (unknown []string, n int, err error) {
	dir := folder + version
	if _, err := os.Stat(dir); err != nil {
		if err := o.install(dir, version); err != nil {
			return nil, 0, fmt.Errorf("fetch version %s: %w", version, err)
		}
	}
	for _, rule := range o.names {
		text, err := os.ReadFile(filepath.Join(dir, rule.file))
		if err != nil {
			return nil, 0, err
		}
		names := rule.all(string(text))
		if len(names) == 0 {
			return nil, 0, fmt.Errorf("%s has no %s: its form has changed, so change the rule", rule.file, rule.what)
		}
		known := rule.known
		if known == nil {
			known = page
		}
		for _, name := range names {
			if n++; !known(name) {
				unknown = append(unknown, rule.what+" "+name)
			}
		}
	}
	slices.Sort(unknown)
	return slices.Compact(unknown), n, nil
}

// install makes dir, with the files that have the names, when it is complete.
func (o *officialSDK) install(dir, version string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(filepath.Dir(dir), ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(fresh)
	command := append(slices.Clone(o.fetch[:len(o.fetch)-1]), fmt.Sprintf(o.fetch[len(o.fetch)-1], version))
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Dir = fresh
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, out)
	}
	archives, err := filepath.Glob(filepath.Join(fresh, o.archive))
	if err != nil || len(archives) != 1 {
		return errors.Join(fmt.Errorf("%q are the archives", archives), err)
	}
	content, err := o.unpack(archives[0])
	if err != nil {
		return err
	}
	for _, name := range o.files {
		data, err := fs.ReadFile(content, name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(fresh, path.Base(name)), data, 0o644); err != nil {
			return err
		}
	}
	if err := os.Remove(archives[0]); err != nil {
		return err
	}
	return os.Rename(fresh, dir)
}

// untar returns the declarations of types in an archive of npm.
func untar(archive string) (fs.FS, error) {
	f, err := os.Open(archive)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	files := fstest.MapFS{}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if !strings.HasSuffix(h.Name, ".d.ts") {
			continue
		}
		data, err := io.ReadAll(io.LimitReader(r, 16<<20))
		if err != nil {
			return nil, err
		}
		files[h.Name] = &fstest.MapFile{Data: data}
	}
}
