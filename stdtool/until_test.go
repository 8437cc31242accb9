//go:build unix

package stdtool_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestUntilWaits checks that bash_output waits for a match without wait_ms too.
func TestUntilWaits(t *testing.T) {
	dir := t.TempDir()
	set, _ := commands(t, dir, nil)
	started := call(t, set, "bash", `{"command":"until [ -e go ]; do sleep 0.05; done; echo ready; sleep 1000","background":true}`)
	id := regexp.MustCompile(`bash-\w+`).FindString(started)
	if text := call(t, set, "bash_output", `{"id":"`+id+`"}`); strings.Contains(text, "ready") {
		t.Error(text)
	}
	got := make(chan string)
	go func() { got <- call(t, set, "bash_output", `{"id":"`+id+`","until":"^ready"}`) }()
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if text := <-got; !strings.HasPrefix(text, "ready\n") {
		t.Error(text)
	}
	call(t, set, "bash_kill", `{"id":"`+id+`"}`)
}
