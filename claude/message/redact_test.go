package message_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/claude/message"
)

// requirement 2, FR-005, scenario 3.1: each unknown message is logged with its
// type and data, but not with secrets, and not without end.
func TestUnknownIsLogged(t *testing.T) {
	var log bytes.Buffer
	p := &message.Parser{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	parse := func(line string) {
		t.Helper()
		if _, err := p.Parse([]byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		parse(fmt.Sprintf(`{"type":"odd","n":%d,"list":[1,{"a":null}],"input_tokens":7}`, i))
	}
	for i := range 3 {
		if want := fmt.Sprintf(`data="{\"type\":\"odd\",\"n\":%d,\"list\":[1,{\"a\":null}],\"input_tokens\":7}"`, i); !strings.Contains(log.String(), want) {
			t.Errorf("%s is not in the log:\n%s", want, &log)
		}
	}

	log.Reset()
	parse(`{"type":"odd","access_token":"hush-1","auth":{"Authorization":["hush-2"],"password":{"a":"hush-3"}},"text":"use sk-ant-hush4hush4 or Bearer hush5hush5 at https://me:hush6@host/","after":"shown"}`)
	if strings.Contains(log.String(), "hush") || !strings.Contains(log.String(), "shown") {
		t.Errorf("the log has secrets, or lacks the rest:\n%s", &log)
	}

	log.Reset()
	parse(`{"type":"odd","text":"` + strings.Repeat("é", 1<<20) + `","more":[` + strings.Repeat(`"x",`, 1<<16) + `0]}`)
	if log.Len() > 2000 {
		t.Errorf("the log of one message has %d bytes", log.Len())
	}

	log.Reset()
	for range 10_000 {
		parse(`{"type":"frequent"}`)
	}
	if n := strings.Count(log.String(), "\n"); n < 10 || n > 20 || !strings.Contains(log.String(), "count=10000") {
		t.Errorf("10,000 messages make %d lines in the log:\n%.3000s", n, &log)
	}
	for i := range 5000 {
		parse(fmt.Sprintf(`{"type":"type-%d","field-%d":1}`, i, i))
	}
	if n := len(p.Unknown()); n > 1100 {
		t.Errorf("the parser remembers %d types", n)
	}
}
