package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func reader(text string, limit int) *lineReader {
	l := newLineReader(strings.NewReader(text), limit, slog.New(slog.DiscardHandler), strings.NewReplacer())
	l.r = bufio.NewReaderSize(strings.NewReader(text), 16) // the shortest that there is
	return l
}

// all returns what the lines are, with the text of an error for one too long.
func all(t *testing.T, l *lineReader) []string {
	t.Helper()
	var lines []string
	for {
		line, err := l.next()
		var long *LineTooLongError
		switch {
		case err == io.EOF:
			return lines
		case errors.As(err, &long):
			lines = append(lines, fmt.Sprint("longer than ", long.Limit))
		case err != nil:
			t.Fatal(err)
		default:
			lines = append(lines, string(line))
		}
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 40)
	tests := map[string]struct {
		text string
		want []string
	}{
		"nothing":             {"", nil},
		"an empty line":       {"\n", nil},
		"one":                 {"{}\n", []string{"{}"}},
		"without its end":     {`{"a":1}`, []string{`{"a":1}`}},
		"carriage returns":    {"{}\r\n{\"a\":1}\r\n", []string{"{}", `{"a":1}`}},
		"a byte order mark":   {"\ufeff{}\n", []string{"{}"}},
		"spaces":              {"  {} \t\n", []string{"{}"}},
		"other lines":         {"hello\n[1]\n{}\nnull\n\n{\"a\":1}\n}", []string{"{}", `{"a":1}`}},
		"several parts":       {`{"a":"` + long + "\"}\n{}\n", []string{`{"a":"` + long + `"}`, "{}"}},
		"the limit":           {"{" + long + "123456789\n", []string{"{" + long + "123456789"}},
		"too long":            {"{" + long + "1234567890\n{}\n", []string{"longer than 50", "{}"}},
		"cut off at the end":  {"{}\n{\"type\":\"resu", []string{"{}"}},
		"cut off in between":  {"{\"type\":\"resu\n{}\n", []string{"{\"type\":\"resu", "{}"}},
		"too long to the end": {"{}\n{" + long + long, []string{"{}", "longer than 50"}},
		"twice too long":      {strings.Repeat("{"+long+long+"\n", 2) + "{}", []string{"longer than 50", "longer than 50", "{}"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := all(t, reader(tt.text, 50)); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestLineIsTheCallers(t *testing.T) {
	l := reader("{\"a\":1}\n{\"b\":2}\n", 100)
	first, _ := l.next()
	_ = append(first, "xxxxxxxx"...)
	second, _ := l.next()
	if string(first) != `{"a":1}` || string(second) != `{"b":2}` {
		t.Errorf("got %q and %q", first, second)
	}
}

func TestReadFails(t *testing.T) {
	broken := errors.New("broken")
	source := io.MultiReader(strings.NewReader("{\"a\":1}\n{\"b\""), iotest.ErrReader(broken))
	l := newLineReader(source, 100, slog.New(slog.DiscardHandler), strings.NewReplacer())
	l.next()
	if _, err := l.next(); err != broken {
		t.Errorf("the lines end with %v", err)
	}
}

// Lines that are skipped are told once aloud, without secrets, and cut.
func TestSkippedLines(t *testing.T) {
	var log bytes.Buffer
	l := reader("the key is sk-secret, "+strings.Repeat("x", 1000)+"\nanother\n{}\n", 5000)
	l.log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	l.hide = secrets([]string{"API_KEY=sk-secret"})
	all(t, l)
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "WARN") || !strings.Contains(lines[1], "DEBUG") {
		t.Errorf("logged:\n%s", log.String())
	}
	if strings.Contains(log.String(), "sk-secret") || len(lines[0]) > 500 {
		t.Errorf("logged:\n%s", log.String())
	}
}

func FuzzLines(f *testing.F) {
	f.Add("{}\n", 10)
	f.Add("\ufeff{}\r\n{\"a\":\n1}\nhello\n{"+strings.Repeat("x", 100)+"\n{}", 50)
	f.Add("{\n{\r{\n\r\n", 1)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		if limit < 1 {
			return
		}
		var want []string
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			trimmed := strings.TrimSpace(strings.TrimPrefix(line, "\ufeff"))
			switch {
			case len(line) > limit:
				want = append(want, fmt.Sprint("longer than ", limit))
			case strings.HasPrefix(trimmed, "{") && (i < len(lines)-1 || json.Valid([]byte(trimmed))): // one that is cut off at the end is skipped
				want = append(want, trimmed)
			}
		}
		if got := all(t, reader(text, limit)); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
