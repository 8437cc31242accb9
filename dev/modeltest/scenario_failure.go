package modeltest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost/model"
)

// failures returns the scenarios of requests that fail.
func failures() []scenario {
	return []scenario{
		{"errors", failsByKind},
		{"late error", failsLate},
		{"cut stream", cutsStream},
		{"cancellation", cancelsStream},
		{"key in error", echoesKey},
		{"no server", failsToConnect},
	}
}

func failsByKind(t *testing.T, p *Provider) {
	for _, f := range []Failure{
		{Kind: model.KindOverloaded, RetryAfter: 7 * time.Second},
		{Kind: model.KindRateLimit, RetryAfter: 11 * time.Second},
		{Kind: model.KindRateLimit},
		{Kind: model.KindQuota}, {Kind: model.KindAuth}, {Kind: model.KindTooLong}, {Kind: model.KindInvalid}, {Kind: model.KindServer},
	} {
		s := Serve(t, p.Wire, Turn{Fail: &f})
		m := p.New(s.URL)
		got := ask(t, m, request())
		failed := asError(t, got.err)
		if failed.Kind != f.Kind || failed.RetryAfter != f.RetryAfter || failed.Status < 400 || failed.Origin != m.Origin() || got.Response != nil {
			t.Errorf("%s, retry after %v: the error is %#v", f.Kind, f.RetryAfter, failed)
		}
		if !strings.Contains(failed.Error(), "this is a test") {
			t.Errorf("%s: the error lacks what the provider says: %v", f.Kind, failed)
		}
		if n := len(s.Requests()); n != 1 {
			t.Errorf("%s: %d requests were sent, want 1", f.Kind, n)
		}
	}
}

func failsLate(t *testing.T, p *Provider) {
	for _, kind := range []model.ErrorKind{model.KindOverloaded, model.KindServer} {
		s := Serve(t, p.Wire, Turn{Fail: &Failure{Kind: kind, Late: true}})
		got := ask(t, p.New(s.URL), request())
		if failed := asError(t, got.err); failed.Kind != kind || got.Response != nil {
			t.Errorf("%s: the error is %#v", kind, failed)
		}
	}
}

// cutsStream breaks the connection at many places of a response.
func cutsStream(t *testing.T, p *Provider) {
	turn := Turn{Parts: []model.Part{
		{Type: model.TypeThinking, Text: "I think."},
		{Type: model.TypeText, Text: "Grüße, 你好."},
		call("call_1", "weather", `{"city":"Oslo"}`),
	}}
	length := p.length(t, &turn)
	r := request()
	r.Tools = tools(t)
	complete := false
	for cut := 1; !complete; cut += max(1, length/60) {
		if cut > 3*length+1000 {
			t.Fatal("the response is never complete")
		}
		turn.Cut = cut
		got := ask(t, p.New(Serve(t, p.Wire, turn).URL), r)
		if got.err != nil {
			if failed := asError(t, got.err); failed.Kind != model.KindConnection || got.Response != nil {
				t.Errorf("cut after %d bytes: the error is %#v", cut, failed)
			}
			continue
		}
		complete = true
		if got.Response == nil || got.Message.Text() != "Grüße, 你好." || len(got.Message.Calls()) != 1 || got.Stop != model.StopCalls {
			t.Errorf("cut after %d bytes: the response is %+v", cut, got.Response)
		}
	}
}

// length returns the number of bytes of a response.
func (p *Provider) length(t *testing.T, turn *Turn) int {
	t.Helper()
	var all bytes.Buffer
	p.Wire.Answer(&all, http.Header{}, turn)
	if all.Len() == 0 {
		t.Fatal("the wire writes nothing")
	}
	return all.Len()
}

// cancelsStream cancels the context in the middle of a response.
func cancelsStream(t *testing.T, p *Provider) {
	turn := text(strings.Repeat("All work and no play. ", 200))
	half, wire := p.length(t, &turn)/2, p.Wire
	release := make(chan struct{})
	defer close(release)
	wire.Answer = func(w io.Writer, h http.Header, turn *Turn) {
		p.Wire.Answer(&gate{w, half, release}, h, turn)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var last error
	for delta, err := range p.New(Serve(t, wire, turn).URL).Stream(ctx, request()) {
		cancel()
		if last = err; err == nil && delta.Response != nil {
			t.Error("the response is complete after half of it")
		}
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("the last error is %v, want %v", last, context.Canceled)
	}
	for range p.New(Serve(t, wire, turn).URL).Stream(context.Background(), request()) {
		break // a caller may stop without cancelling
	}
}

// A gate blocks after some bytes until it is released.
type gate struct {
	w       io.Writer
	left    int
	release <-chan struct{}
}

func (g *gate) Write(p []byte) (int, error) {
	if g.left -= len(p); g.left < 0 {
		<-g.release
	}
	return g.w.Write(p)
}

// echoesKey has a provider that repeats the credential in its error.
func echoesKey(t *testing.T, p *Provider) {
	wire := p.Wire
	wire.Fail = func(w http.ResponseWriter, f *Failure, _ string) {
		p.Wire.Fail(w, f, "the key "+Key+" is wrong")
	}
	for _, f := range []Failure{{Kind: model.KindAuth}, {Kind: model.KindServer}, {Kind: model.KindServer, Late: true}} {
		got := ask(t, p.New(Serve(t, wire, Turn{Fail: &f}).URL), request())
		asError(t, got.err)
	}
}

func failsToConnect(t *testing.T, p *Provider) {
	got := ask(t, p.New("http://127.0.0.1:1"), request())
	if failed := asError(t, got.err); failed.Kind != model.KindConnection || failed.Status != 0 {
		t.Errorf("the error is %#v", failed)
	}
}
