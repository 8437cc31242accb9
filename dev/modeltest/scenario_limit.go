package modeltest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolpost/toolpost/model"
)

// limits returns the scenarios of responses that are longer than a model writes.
func limits() []scenario {
	return []scenario{
		{"endless response", limitsResponse},
		{"endless error", limitsError},
		{"many calls", limitsCalls},
	}
}

// mark is the text of a piece that an endless server repeats.
const mark = "~"

// endless returns the wire format w with a server that repeats the first event with
// mark until the client leaves. Sent counts the bytes.
func (w Wire) endless(sent *atomic.Int64) Wire {
	answer := w.Answer
	w.Answer = func(to io.Writer, header http.Header, t *Turn) {
		var whole bytes.Buffer
		answer(&whole, header, t)
		before, event := []byte(nil), []byte(nil)
		for event = range bytes.SplitAfterSeq(whole.Bytes(), []byte("\n\n")) {
			if bytes.Contains(event, []byte(mark)) {
				break
			}
			before = append(before, event...)
		}
		_, err := to.Write(before)
		event = bytes.ReplaceAll(event, []byte(mark), bytes.Repeat([]byte("x"), 256<<10))
		for err == nil {
			_, err = to.Write(event)
			sent.Add(int64(len(event)))
		}
	}
	return w
}

func limitsResponse(t *testing.T, p *Provider) {
	var sent atomic.Int64
	s := Serve(t, p.Wire.endless(&sent), text(mark))
	got := ask(t, p.New(s.URL), request())
	if failed := asError(t, got.err); failed.Temporary() || !strings.Contains(failed.Error(), "no model writes") || got.Response != nil {
		t.Errorf("the error is %v", failed)
	}
	if n := sent.Load() >> 20; n > 32 {
		t.Errorf("the server could send %d MiB", n)
	}
}

// limitsError has a server send an error without end.
func limitsError(t *testing.T, p *Provider) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // the client does not read before
		w.WriteHeader(http.StatusInternalServerError)
		line := bytes.Repeat([]byte("x"), 64<<10)
		for err := error(nil); err == nil; {
			_, err = w.Write(line)
		}
	}))
	t.Cleanup(web.Close)
	got := ask(t, p.New(web.URL), request())
	failed := asError(t, got.err)
	if failed.Kind != model.KindServer || failed.Status != http.StatusInternalServerError || len(failed.Error()) > 4000 {
		t.Errorf("the error is %.200v", failed)
	}
}

func limitsCalls(t *testing.T, p *Provider) {
	var turn Turn
	for i := range 2001 {
		turn.Parts = append(turn.Parts, call("call_"+strconv.Itoa(i), "weather", `{"city":"Oslo"}`))
	}
	r := request()
	r.Tools = tools(t)
	got := ask(t, p.New(Serve(t, p.Wire, turn).URL), r)
	if failed := asError(t, got.err); failed.Temporary() || !strings.Contains(failed.Error(), "2000 parts") || got.Response != nil {
		t.Errorf("the error is %v", failed)
	}
}
