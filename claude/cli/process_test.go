package cli_test

import (
	"io"
	"testing"

	"github.com/toolpost/toolpost/claude/cli"
)

func TestEcho(t *testing.T) {
	p := start(t, "echo", cli.Options{})
	for _, line := range []string{`{"a":1}`, `{"b":"日本語"}`} {
		if err := p.WriteLine([]byte(line)); err != nil {
			t.Fatal(err)
		}
		if got, err := p.ReadLine(); err != nil || string(got) != line {
			t.Errorf("ReadLine() = %q, %v, want %q", got, err, line)
		}
	}
	if err := p.CloseInput(); err != nil {
		t.Error(err)
	}
	if err := p.CloseInput(); err != nil {
		t.Error("second CloseInput:", err)
	}
	if line, err := p.ReadLine(); err != io.EOF {
		t.Errorf("ReadLine() = %q, %v, want io.EOF", line, err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
