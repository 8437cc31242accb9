package servers

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
)

// A server with many wrong tools does not fill the screen.
func TestTrialIsShort(t *testing.T) {
	one := &trial{tools: 500}
	for i := range one.tools {
		one.problems = append(one.problems, fmt.Sprintf("tool %d is wrong", i))
	}
	var b strings.Builder
	page := terminal.NewPage(&b)
	one.write(page, "many")
	if err := page.Flush(); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(b.String(), "\n"); lines > 10 || !strings.Contains(b.String(), "and 495 more") {
		t.Errorf("%d lines:\n%.500s", lines, b.String())
	}
}

// A server that fills its stderr does not fill the screen.
func TestTrialOfNoise(t *testing.T) {
	one := &trial{fault: "it has not answered; its stderr ends with:\n" + strings.Repeat("noise\n", 1000) + strings.Repeat("\x00", 4000)}
	var b strings.Builder
	page := terminal.NewPage(&b)
	one.write(page, "loud")
	if err := page.Flush(); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(b.String(), "\n"); lines > 18 || strings.Contains(b.String(), "\x00") {
		t.Errorf("%d lines:\n%.500q", lines, b.String())
	}
}
