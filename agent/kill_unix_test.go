//go:build unix

package agent_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/model"
)

// killVariable is the folder of a run that the test kills.
const killVariable = "TOOLPOST_TEST_KILL"

const (
	killRounds = 6
	killCalls  = 4 // of a round
)

// TestKill kills a run whose tools write, at random moments. What has a result is never
// done again, and what was reported is never lost. TOOLPOST_KILLS says how many.
func TestKill(t *testing.T) {
	if folder := os.Getenv(killVariable); folder != "" {
		if err := runUntilKilled(t, folder); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Parallel()
	kills := 20
	if s := os.Getenv("TOOLPOST_KILLS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		kills = n
	}
	killed, unknown := 0, 0
	for killed < kills {
		folder := t.TempDir()
		reported := map[string]string{}
		for !killedRun(t, folder, reported) {
			killed++
			checkReported(t, folder, reported)
		}
		unknown += checkEffects(t, folder, reported)
	}
	t.Logf("%d kills, %d calls of unknown outcome", killed, unknown)
}

// runUntilKilled runs or continues the session in the folder, and writes every
// result that is reported to it.
func runUntilKilled(t *testing.T, folder string) error {
	s := open(t, filepath.Join(folder, "session.jsonl"))
	write := tool("write", func(_ context.Context, text string) (string, error) {
		f, err := os.OpenFile(filepath.Join(folder, "effects"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return "", err
		}
		defer f.Close()
		_, err = f.WriteString(text + "\n")
		fmt.Println("wrote", text)
		return "wrote " + text, err
	})
	m := &script{t: t, think: func(r *model.Request) ([]model.Part, error) {
		round := len(r.Messages) / 2
		if round == killRounds {
			return say("Done."), nil
		}
		var calls []model.Part
		for i := range killCalls {
			n := round*killCalls + i
			calls = append(calls, call(n, "write", fmt.Sprintf(`{"text":"%d"}`, n)))
		}
		return calls, nil
	}}
	var start []model.Part
	if len(s.Messages()) == 0 {
		start = append(start, prompt("Write"))
	}
	for e, err := range agent.New(m, toolpost.Tools{write}, nil).Run(t.Context(), s, start...) {
		if err != nil {
			return err
		}
		switch e.Type {
		case agent.EventResult:
			fmt.Printf("result %s %s\n", e.Call.ID, strings.ReplaceAll(e.Result.Text, " ", "_"))
		case agent.EventResponse, agent.EventCall:
			fmt.Println(e.Type)
		}
	}
	return nil
}

// killedRun runs the session in the folder in another process, and kills it at a
// random moment. It reports whether the run ended before.
func killedRun(t *testing.T, folder string, reported map[string]string) (ended bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestKill$")
	cmd.Env = append(os.Environ(), killVariable+"="+folder)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	after, pause := rand.IntN(2*killRounds*killCalls), time.Duration(rand.IntN(400))*time.Microsecond
	in := bufio.NewScanner(out)
	for n := 0; in.Scan(); n++ {
		if id, text, ok := strings.Cut(strings.TrimPrefix(in.Text(), "result "), " "); ok && strings.HasPrefix(in.Text(), "result ") {
			reported[id] = text
		}
		if n == after {
			time.AfterFunc(pause, func() { _ = cmd.Process.Signal(syscall.SIGKILL) })
		}
	}
	err = cmd.Wait()
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return false
	}
	if err != nil {
		t.Fatalf("the run failed: %v\n%s", err, stderr.String())
	}
	return true
}

// results returns the results of the session by their calls.
func results(t *testing.T, folder string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "session.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy.jsonl")
	if err := os.WriteFile(copied, text, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, copied)
	defer s.Close()
	all := map[string]string{}
	for _, line := range strings.Split(string(text), "\n") {
		if _, rest, found := strings.Cut(line, `"result":{"tool_call_id":"`); found {
			id, rest, _ := strings.Cut(rest, `"`)
			_, rest, _ = strings.Cut(rest, `"content":"`)
			content, _, _ := strings.Cut(rest, `"`)
			if all[id] != "" {
				t.Fatalf("the call %s has two results", id)
			}
			all[id] = strings.ReplaceAll(content, " ", "_")
		}
	}
	return all
}

func checkReported(t *testing.T, folder string, reported map[string]string) {
	t.Helper()
	if len(reported) == 0 {
		return
	}
	recorded := results(t, folder)
	for id, text := range reported {
		if recorded[id] != text {
			t.Fatalf("the result %q of %s was reported, but %q is recorded", text, id, recorded[id])
		}
	}
}

// checkEffects compares what the calls did with what the model was told. It
// returns how many calls had an unknown outcome.
func checkEffects(t *testing.T, folder string, reported map[string]string) (unknown int) {
	t.Helper()
	checkReported(t, folder, reported)
	effects, err := os.ReadFile(filepath.Join(folder, "effects"))
	if err != nil {
		t.Fatal(err)
	}
	done := strings.Fields(string(effects))
	recorded := results(t, folder)
	for n := range killRounds * killCalls {
		text := fmt.Sprint(n)
		times := 0
		for _, d := range done {
			if d == text {
				times++
			}
		}
		got := recorded["call_"+text]
		switch {
		case times > 1:
			t.Fatalf("call %s was done %d times", text, times)
		case got == "wrote_"+text && times == 1:
		case strings.Contains(got, "outcome_is_unknown"):
			unknown++
		default:
			t.Fatalf("call %s was done %d times, and the model received %q", text, times, got)
		}
	}
	return unknown
}
