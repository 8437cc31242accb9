package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
)

// Whatever a model wrote, the summary is JSON.
func TestSummaryIsText(t *testing.T) {
	var out bytes.Buffer
	line := "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"structured_output\":{\"a\":\"x\xff\"}}"
	if err := summarize(&out, io.Discard, strings.NewReader(line)); err != nil {
		t.Fatal(err)
	}
	var s struct {
		Output struct{ A string } `json:"structured_output"`
	}
	if err := json.Unmarshal(out.Bytes(), &s); err != nil || s.Output.A != "x\ufffd" || !utf8.Valid(out.Bytes()) {
		t.Errorf("%q, %v", out.String(), err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

// 1 would say that the run failed.
func TestSummaryIsNotWritten(t *testing.T) {
	for _, line := range []string{
		`{"type":"result","subtype":"success","is_error":false}`,
		`{"type":"result","subtype":"success","is_error":true}`,
	} {
		err := summarize(full{}, io.Discard, strings.NewReader(line))
		if code := cli.Report(io.Discard, err); code != cli.ExitUsage || !strings.Contains(err.Error(), "the disk is full") {
			t.Errorf("exit code %d, %v", code, err)
		}
	}
}
