package stdtool

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

func base(t testing.TB) *url.URL {
	t.Helper()
	u, err := url.Parse("https://example.org/docs/page?q=1")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestMarkdown converts the pages in testdata: NAME.html is wanted as NAME.md.
func TestMarkdown(t *testing.T) {
	archives, err := filepath.Glob("testdata/markdown/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i+1 < len(archive.Files); i += 2 {
			page, want := archive.Files[i], &archive.Files[i+1]
			name := strings.TrimSuffix(page.Name, ".html")
			if want.Name != name+".md" {
				t.Fatalf("%s: %s is followed by %s", path, page.Name, want.Name)
			}
			title, text, err := markdown(string(page.Data), base(t))
			if err != nil {
				t.Fatal(err)
			}
			if title != "" {
				text = "[title: " + title + "]\n" + text
			}
			if text += "\n"; os.Getenv("TOOLPOST_UPDATE") != "" {
				want.Data = []byte(text)
			} else if d := cmp.Diff(string(want.Data), text); d != "" {
				t.Errorf("%s (-want +got):\n%s", name, d)
			}
		}
		if os.Getenv("TOOLPOST_UPDATE") != "" {
			if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Pages made to take time or memory are converted in little of both, or refused.
func TestMarkdownHostile(t *testing.T) {
	const n = 100_000
	pages := map[string]string{
		"bold":      strings.Repeat("<b>", n),
		"nested":    strings.Repeat("<div>", n),
		"lists":     strings.Repeat("<ul><li>x", n),
		"quotes":    strings.Repeat("<blockquote>", 300) + strings.Repeat("x\n", n),
		"tables":    strings.Repeat("<table><tr><td>x<td>", 100) + "y",
		"colspan":   "<table>" + strings.Repeat("<tr><td colspan=99999999>x<td>y", 1000),
		"rowspan":   "<table><tr><td rowspan=9999 colspan=999>x<td>y",
		"breaks":    strings.Repeat("<blockquote>", 300) + strings.Repeat("x<br>", n),
		"links":     strings.Repeat("<a href=x>y", n),
		"comment":   "<!--" + strings.Repeat("-", n),
		"comments":  strings.Repeat("x<!---->", n),
		"spans":     strings.Repeat("<span>", 400) + strings.Repeat("<i>x</i>y", n),
		"cells":     "<table><tr>" + strings.Repeat("<td>x", n) + strings.Repeat("<tr><td>y", n),
		"signs":     "<h1>#</h1>\a\uF002" + strings.Repeat("<b>\uF003", 100),
		"start":     "<ol start=99999999999999999999><li>x<li>y</ol>",
		"fences":    "<pre>" + strings.Repeat("`", 1000) + "</pre>",
		"backticks": "<code>" + strings.Repeat("`", 1000) + "</code>",
	}
	for name, page := range pages {
		_, text, err := markdown(page, base(t))
		if err == nil && len(text) > 40*len(page) {
			t.Errorf("%s: %d bytes of %d", name, len(text), len(page))
		}
		if deep := name == "bold" || name == "nested" || name == "lists"; (err != nil) != deep && name != "tables" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Parsing ends with its time. Without the limit, this page takes minutes.
func TestMarkdownSlow(t *testing.T) {
	if _, err := parsePage(strings.Repeat("x</b>", maxBody/5), 100*time.Millisecond); !errors.Is(err, errSlow) {
		t.Errorf("parsing ended with %v", err)
	}
}

func FuzzMarkdown(f *testing.F) {
	archives, _ := filepath.Glob("testdata/markdown/*.txtar")
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			f.Add(string(file.Data))
		}
	}
	f.Fuzz(func(t *testing.T, page string) {
		title, text, err := markdown(page, base(t))
		if err != nil {
			return
		}
		if len(text) > 60*len(page)+1000 || len(title) > 3*len(page) {
			t.Errorf("%d bytes of %d", len(text), len(page))
		}
		if utf8.ValidString(page) && !utf8.ValidString(title+text) {
			t.Errorf("%q is no UTF-8", text)
		}
		if again, text2, _ := markdown(page, base(t)); again != title || text2 != text {
			t.Error("another time it is another text")
		}
		for _, script := range []string{"](javascript:", "](data:"} {
			if strings.Contains(text, script) && !strings.Contains(page, script) {
				t.Errorf("%q", text)
			}
		}
	})
}
