package checks

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/lint"
	"github.com/toolpost/toolpost/schema/dialect"
)

// Arguments are answered line by line, however long.
func TestDecodeStream(t *testing.T) {
	src := toolsOf(t, []byte(`[{"name":"a","inputSchema":{"type":"object","properties":{"x":{"type":["integer","string"]}}}}]`))
	d, err := src.Book.Find("claude-desktop")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	in, arguments := io.Pipe()
	answers, out := io.Pipe()
	context.AfterFunc(ctx, func() { _ = answers.Close() })
	go func() { _ = out.CloseWithError(decodeArguments(lint.Adapt(src, d, nil), "a", in, out)) }()
	buffer := make([]byte, 8<<20)
	for _, tt := range []struct{ line, want string }{
		{`{"x":"1"}`, `{"arguments":{"x":1}}`},
		{`{"x":"` + strings.Repeat("y", 4<<20) + `"}`, `{"arguments":{"x":"` + strings.Repeat("y", 4<<20) + `"}}`},
		{`{`, `{"error":"the line is not JSON: write one object with the arguments"}`},
	} {
		if _, err := io.WriteString(arguments, tt.line+"\n"); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(answers, buffer[:len(tt.want)+1]); err != nil || string(buffer[:len(tt.want)+1]) != tt.want+"\n" {
			t.Errorf("%.40s: got %.80s, %v", tt.line, buffer, err)
		}
	}
	_ = arguments.Close()
	if rest, err := io.ReadAll(answers); len(rest) > 0 || err != nil {
		t.Errorf("at the end: %q, %v", rest, err)
	}
}

func toolsOf(t *testing.T, data []byte) *lint.Source {
	t.Helper()
	f, err := lint.ParseFile("tools.json", data)
	if err != nil {
		t.Fatal(err)
	}
	book, err := dialect.NewBook(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &lint.Source{Title: f.Path, File: f, Tools: f.Tools, Book: book}
}
