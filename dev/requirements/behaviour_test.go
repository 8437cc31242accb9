package requirements

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

const behaviour = "../../docs/evidence/behaviour.md"

// reasons are why a row of docs/evidence/behaviour.md has no test.
var reasons = []string{
	"does not apply: a gateway is one process",
}

// TestBehaviour checks that docs/evidence/behaviour.md has every row, and that each row
// names a test or gives a known reason.
func TestBehaviour(t *testing.T) {
	text, err := os.ReadFile(behaviour)
	if err != nil {
		t.Fatal(err)
	}
	var ids, want []string
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 3 || strings.HasPrefix(cells[0], "---") || strings.TrimSpace(cells[0]) == "id" {
			continue
		}
		id, tests := strings.TrimSpace(cells[0]), strings.TrimSpace(cells[2])
		ids = append(ids, id)
		if !testName.MatchString(tests) && !slices.Contains(reasons, tests) {
			t.Errorf("row %s has neither a test nor a known reason: %q", id, tests)
		}
	}
	for i := range 22 {
		want = append(want, fmt.Sprintf("M%d", i+1))
	}
	for i := range 82 {
		if n := i + 1; n <= 67 || n >= 75 {
			want = append(want, fmt.Sprint(n))
		}
	}
	if !slices.Equal(ids, want) {
		t.Errorf("the rows are\n%v\nwant\n%v", ids, want)
	}
}

const attacks = "../../docs/evidence/attacks.md"

// TestAttacks checks that docs/evidence/attacks.md has at least 60 attacks, numbered, each
// with a test or script.
func TestAttacks(t *testing.T) {
	text, err := os.ReadFile(attacks)
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 4 || strings.Trim(cells[0], " -") == "" {
			continue
		}
		rows++
		if got := strings.TrimSpace(cells[0]); got != fmt.Sprint(rows) {
			t.Errorf("row %d has the number %s", rows, got)
		}
		if !testName.MatchString(cells[3]) {
			t.Errorf("row %d has no test", rows)
		}
	}
	if rows < 60 {
		t.Errorf("%d attacks, want at least 60", rows)
	}
}
