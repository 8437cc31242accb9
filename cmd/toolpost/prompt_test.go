package main

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
)

func TestAsk(t *testing.T) {
	for answer, want := range map[string]bool{"y\n": true, "YES\n": true, "\n": false, "": false, "no\n": false} {
		p := &prompter{in: bufio.NewReader(strings.NewReader(answer)), out: &bytes.Buffer{}}
		if got, err := p.ask(t.Context(), "Write?"); got != want || err != nil {
			t.Errorf("%q: %v, %v", answer, got, err)
		}
	}
}
