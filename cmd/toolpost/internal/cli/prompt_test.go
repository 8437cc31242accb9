package cli

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
)

func TestAsk(t *testing.T) {
	for answer, want := range map[string]bool{"y\n": true, "YES\n": true, "\n": false, "": false, "no\n": false} {
		p := &Prompter{in: bufio.NewReader(strings.NewReader(answer)), Out: &bytes.Buffer{}}
		if got, err := p.Ask(t.Context(), "Write?"); got != want || err != nil {
			t.Errorf("%q: %v, %v", answer, got, err)
		}
	}
}

func TestAskYes(t *testing.T) {
	for answer, want := range map[string]bool{"y\n": true, "\n": true, "\r\n": true, "": false, "n\n": false, "what\n": false} {
		p := &Prompter{in: bufio.NewReader(strings.NewReader(answer)), Out: &bytes.Buffer{}}
		if got, err := p.AskYes(t.Context(), "Take out?"); got != want || err != nil {
			t.Errorf("%q: %v, %v", answer, got, err)
		}
	}
}
