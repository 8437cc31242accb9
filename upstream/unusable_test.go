package upstream

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
)

// What is too long for memory stays in a file only while a call waits that can
// use it. The call that it answers fails all the same.
func TestLongMessagesNobodyCanUse(t *testing.T) {
	keep := func(context.Context, io.Reader, int, bool) (string, string, error) { return "", "", nil }
	list := &exchange{number: 1, request: &request{method: "tools/list"}}
	tool := &exchange{number: 2, request: &request{method: "tools/call", keep: keep}}
	for name, test := range map[string]struct {
		open []*exchange
		from *exchange
		file bool
	}{
		"a list":                   {[]*exchange{list}, nil, false},
		"nobody":                   {nil, nil, false},
		"a tool":                   {[]*exchange{list, tool}, nil, true},
		"its response":             {[]*exchange{list, tool}, tool, true},
		"the response to the list": {[]*exchange{list, tool}, list, false},
	} {
		p := newPeer(slog.New(slog.DiscardHandler), nil, nil)
		for _, x := range test.open {
			p.begin(x)
		}
		b := &body{limits: &limits{max: 1 << 20, dir: t.TempDir()}, keeps: p.keeps(test.from)}
		b.add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"x":"`))
		for range 64 {
			b.add(bytes.Repeat([]byte("x"), 64<<10))
		}
		b.add([]byte(`"}}`))
		if inFile := b.spool != nil; inFile != test.file {
			t.Errorf("%s: in a file %v", name, inFile)
		}
		_, unread, err := b.messages()
		if err != nil || unread == nil || string(unread.id) != "1" || !errors.Is(unread.err, errTooLong) {
			t.Errorf("%s: got %+v, %v", name, unread, err)
		}
		if long := (*longResult)(nil); errors.As(unread.err, &long) {
			long.Close()
		}
	}
}

// Logs and errors show what a long message is that cannot be read.
func TestLongTextsThatAreNoMessages(t *testing.T) {
	b := &body{limits: &limits{max: 4 << 20, dir: t.TempDir()}}
	b.add([]byte("<html>"))
	for range 48 {
		b.add(bytes.Repeat([]byte("x"), 64<<10))
	}
	if found, unread, err := b.messages(); len(found) > 0 || unread != nil || err != nil {
		t.Fatalf("got %v, %v, %v", found, unread, err)
	}
	if begin := b.begin(); len(begin) != edge || !strings.HasPrefix(string(begin), "<html>xx") {
		t.Errorf("it begins with %.20q, of %d bytes", begin, len(begin))
	}
}
