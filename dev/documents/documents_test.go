package documents_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tailscale/hujson"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/dev/documents"
	"github.com/toolpost/toolpost/internal/wire"
)

const root = "../.."

func blocks(t *testing.T, languages ...string) []*documents.Block {
	t.Helper()
	all, err := documents.Blocks(root)
	if err != nil {
		t.Fatal(err)
	}
	all = slices.DeleteFunc(all, func(b *documents.Block) bool { return !slices.Contains(languages, b.Language) })
	if len(all) < 10 {
		t.Fatalf("only %d blocks of %v", len(all), languages)
	}
	return all
}

// TestConfigurations checks that every configuration in a page is one, without mistakes and
// without keys that have no effect, and that other JSON is JSON.
func TestConfigurations(t *testing.T) {
	set := regexp.MustCompile(`\$\{(\w+)\}`)
	for _, b := range blocks(t, "json", "jsonc") {
		text := strings.TrimSpace(b.Text)
		if strings.HasPrefix(text, `"`) { // members of an object
			text = "{" + text + "}"
		}
		data, err := hujson.Standardize([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", b.Where(0), err)
			continue
		}
		if b.Language == "json" && string(data) != text {
			t.Errorf("%s: comments or trailing commas; write jsonc", b.Where(0))
		}
		if text[0] != '{' || wire.Get(data, "mcpServers") == nil {
			continue
		}
		for _, m := range set.FindAllStringSubmatch(text, -1) {
			t.Setenv(m[1], "a-value-with-32-characters-or-more")
		}
		cfg, err := config.Parse("toolpost.json", []byte(text), os.LookupEnv)
		if err != nil {
			t.Errorf("%s: %v", b.Where(0), err)
			continue
		}
		cfg.ReadFiles()
		for _, p := range cfg.Problems() {
			t.Errorf("%s: %s", b.Where(p.Line-1), p.Message)
		}
	}
}

// errorCheck is what a page may leave out of a program.
var errorCheck = regexp.MustCompile(`if err != nil \{\n(?:return|panic|log\.Fatal)[^\n]*\n\}\n`)

// TestGoIsCompiled checks that the Go of every page is in a file that is compiled: one line
// after the other, apart from blanks at their beginning and checks of err.
func TestGoIsCompiled(t *testing.T) {
	var compiled []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		if name := d.Name(); !strings.Contains(path, "examples") && name != "guide_test.go" && !strings.HasPrefix(name, "example") {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		whole := flush(string(text))
		compiled = append(compiled, whole, errorCheck.ReplaceAllString(whole, ""))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks(t, "go") {
		for _, part := range regexp.MustCompile(`\n\n|\n…\n`).Split(flush(b.Text), -1) { // declarations may be apart from their use
			part = strings.TrimSpace(errorCheck.ReplaceAllString(part, ""))
			if !slices.ContainsFunc(compiled, func(text string) bool { return strings.Contains(text, part) }) {
				t.Errorf("%s: no example has these lines, one after the other:\n%s", b.Where(0), part)
			}
		}
	}
}

// flush returns a text without the blanks at the beginning of its lines.
func flush(text string) string {
	var b strings.Builder
	for line := range strings.Lines("\n" + text) {
		b.WriteString(strings.TrimLeft(line, " \t"))
	}
	return b.String()
}

func TestWords(t *testing.T) {
	for line, want := range map[string]string{
		`toolpost list   # all`:             `[toolpost list]`,
		`a "b c" 'd "e"' f\ g`:              `[a b c d "e" f g]`,
		`claude -p x | toolpost claude > f`: `[claude -p x] [toolpost claude]`,
		`a '$0.50' "" x#y <file >>out b`:    `[a $0.50  x#y b]`,
		``:                                  ``,
	} {
		var got []string
		for _, words := range documents.Words(line) {
			got = append(got, "["+strings.Join(words, " ")+"]")
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", line, got, want)
		}
	}
}

// TestReadmeAnswers checks that the README links what new users ask first.
func TestReadmeAnswers(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for question, link := range map[string]string{
		"Where does the API key of a server go?":              "docs/configuration.md",
		"How does it ask me before a tool deletes something?": "docs/approvals.md",
		"Cursor says that there are too many tools.":          "docs/profiles.md",
		"How do I log in to a server?":                        "docs/login.md",
		"Can tools have other names?":                         "docs/profiles.md",
		"Can my CI check the tools of my server?":             "docs/install.md#in-ci",
		"Where are the metrics?":                              "docs/operations.md#metrics",
		"Can I record and replay?":                            "docs/audit.md",
		"How do I use it in a Go program?":                    "docs/library.md",
		"What stands for mcp-remote?":                         "docs/clients.md#one-server-over-another-transport",
		"How does it start at boot?":                          "docs/operations.md#start-at-boot",
		"How do I put TLS in front?":                          "docs/operations.md#tls-and-reverse-proxies",
		"How do I upgrade?":                                   "docs/install.md#upgrade",
		"What does it leave when I uninstall it?":             "docs/install.md#uninstall",
		"Where is the log of one server?":                     "docs/operations.md#the-serve-that-runs",
		"Can servers run in a container?":                     "docs/install.md#containers",
		"What does this message mean?":                        "docs/troubleshooting.md",
	} {
		if !strings.Contains(string(readme), "]("+link+")") {
			t.Errorf("%s The README does not link %s", question, link)
		}
	}
}

// TestMessages checks that the messages of docs/troubleshooting.md are those of the program:
// each part of one, between "…", is in a string of the source.
func TestMessages(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs", "troubleshooting.md"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := documents.Strings(root)
	if err != nil {
		t.Fatal(err)
	}
	messages := 0
	for line := range strings.Lines(string(page)) {
		first, _, row := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if !row || !strings.HasPrefix(line, "| ") {
			continue
		}
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(first, -1) {
			messages++
			for part := range strings.SplitSeq(m[1], "…") {
				if !strings.Contains(source, strings.TrimSpace(part)) {
					t.Errorf("no string of the source has %q of the message %q", part, m[1])
				}
			}
		}
	}
	if messages < 25 {
		t.Errorf("only %d messages", messages)
	}
}
