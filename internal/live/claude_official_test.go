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
	"maps"
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

// An officialSDK is an Agent SDK whose names docs/claude-sdks.md must have.
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
type nameRule struct{ what, file, begin, end, name string }

var officialSDKs = map[string]officialSDK{
	"TypeScript": {
		stated: regexp.MustCompile("`@anthropic-ai/claude-agent-sdk` ([0-9.]+)"), needs: "npm",
		newest:  []string{"npm", "view", "@anthropic-ai/claude-agent-sdk", "version"},
		fetch:   []string{"npm", "pack", "--silent", "@anthropic-ai/claude-agent-sdk@%s"},
		archive: "*.tgz", unpack: untar, files: []string{"package/sdk.d.ts"},
		names: []nameRule{
			{"export", "sdk.d.ts", "", "", `(?m)^export declare (?:abstract )?(?:const|function|class|type|interface|enum) (\w+)`},
			{"option", "sdk.d.ts", "export declare type Options = {", "\n};", `(?m)^    (\w+)\??:`},
			{"member of an agent", "sdk.d.ts", "export declare type AgentDefinition = {", "\n};", `(?m)^    (\w+)\??:`},
			{"method of a query", "sdk.d.ts", "export declare interface Query ", "\n}", `(?m)^    (\w+)\(`},
			{"message", "sdk.d.ts", "export declare type SDKMessage = ", ";", `(\w+)`},
		},
	},
	"Python": {
		stated: regexp.MustCompile("`claude-agent-sdk` ([0-9.]+)"), needs: "python3",
		newest:  []string{"python3", "-m", "pip", "index", "versions", "claude-agent-sdk"},
		fetch:   []string{"python3", "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", "claude-agent-sdk==%s"},
		archive: "*.whl", unpack: func(archive string) (fs.FS, error) { return zip.OpenReader(archive) },
		files: []string{"claude_agent_sdk/__init__.py", "claude_agent_sdk/types.py", "claude_agent_sdk/client.py"},
		names: []nameRule{
			{"export", "__init__.py", "\n__all__ = [", "\n]", `"(\w+)"`},
			{"option", "types.py", "\nclass ClaudeAgentOptions:", "\n\n\n", `(?m)^    ([a-z]\w*): `},
			{"member of an agent", "types.py", "\nclass AgentDefinition:", "\n\n\n", `(?m)^    ([a-z]\w*): `},
			{"method of the client", "client.py", "\nclass ClaudeSDKClient:", "\n\n\n", `(?m)^    (?:async )?def ([a-z]\w*)\(`},
		},
	},
}

// TestOfficialClaudeSDKs compares docs/claude-sdks.md with the types that the
// official SDKs publish: it has all names of the versions that it states. What only
// a newer version has is logged, since a release must not fail this test.
func TestOfficialClaudeSDKs(t *testing.T) {
	cache := os.Getenv("TOOLPOST_LIVE")
	if cache == "" {
		t.Skip(`TOOLPOST_LIVE is not set: "make live" sets it and runs this`)
	}
	text, err := os.ReadFile("../../docs/claude-sdks.md")
	if err != nil {
		t.Fatal(err)
	}
	page := namesOnPage(string(text))
	if page("NoSuchName") {
		t.Fatal("the page has a pattern that every name matches")
	}
	for language, sdk := range officialSDKs {
		t.Run(language, func(t *testing.T) {
			stated := sdk.stated.FindSubmatch(text)
			if stated == nil {
				t.Fatalf("the page does not state a version: %s", sdk.stated)
			}
			if _, err := exec.LookPath(sdk.needs); err != nil {
				t.Skipf("%s is not installed, which fetches the SDK", sdk.needs)
			}
			version := string(stated[1])
			names, err := sdk.published(filepath.Join(cache, "official"), version)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range slices.Sorted(maps.Keys(names)) {
				if !page(name) {
					t.Errorf("the page lacks the %s %s of version %s", names[name], name, version)
				}
			}
			t.Logf("%d names of version %s are compared", len(names), version)
			out, err := exec.Command(sdk.newest[0], sdk.newest[1:]...).Output()
			newest := regexp.MustCompile(`\b\d+\.\d+\.\d+\b`).FindString(string(out))
			if newest == version || err != nil {
				t.Logf("the newest version is %s (%v)", newest, err)
				return
			}
			newer, err := sdk.published(filepath.Join(cache, "official"), newest)
			if err != nil {
				t.Logf("version %s: %v", newest, err)
			}
			for _, name := range slices.Sorted(maps.Keys(newer)) {
				if !page(name) {
					t.Logf("the page lacks the %s %s of the newer version %s", newer[name], name, newest)
				}
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

// published returns the names of a version, and what each is.
func (o *officialSDK) published(cache, version string) (map[string]string, error) {
	dir := filepath.Join(cache, version)
	if _, err := os.Stat(dir); err != nil {
		if err := o.install(dir, version); err != nil {
			return nil, fmt.Errorf("fetch version %s: %w", version, err)
		}
	}
	names := map[string]string{}
	for _, rule := range o.names {
		text, err := os.ReadFile(filepath.Join(dir, rule.file))
		if err != nil {
			return nil, err
		}
		_, part, found := strings.Cut(string(text), rule.begin)
		if rule.end != "" {
			part, _, _ = strings.Cut(part, rule.end)
		}
		all := regexp.MustCompile(rule.name).FindAllStringSubmatch(part, -1)
		if !found || len(all) == 0 {
			return nil, fmt.Errorf("%s has no %s: its form has changed, so change the rule", rule.file, rule.what)
		}
		for _, m := range all {
			names[m[1]] = rule.what
		}
	}
	return names, nil
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
