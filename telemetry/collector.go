package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

const (
	protobufType = "application/x-protobuf"

	maxExport       = 64 << 20 // bytes of one request, before compression
	maxAnswer       = 64 << 10 // bytes of an answer that are read
	firstRetry      = 5 * time.Second
	longestRetry    = 30 * time.Second
	longestRetrying = time.Minute
)

// A collector sends spans over OTLP/HTTP. It is the client of the exporter of
// OpenTelemetry, which converts the spans. The client that OpenTelemetry offers for
// OTLP/HTTP links gRPC too.
type collector struct {
	settings *collectorSettings
	web      *http.Client
	log      *slog.Logger
	stopped  context.Context // ends with Stop, and with it what is under way
	stop     context.CancelCauseFunc
}

// newCollector returns the collector that the environment describes.
func newCollector(log *slog.Logger) (*collector, error) {
	s, err := readCollectorSettings(log)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: s.tls, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 90 * time.Second,
	}
	web := &http.Client{Transport: transport, Timeout: s.timeout, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // the headers may have a key, which is not for another host
	}}
	stopped, stop := context.WithCancelCause(context.Background())
	return &collector{s, web, log, stopped, stop}, nil
}

// Start implements otlptrace.Client.
func (c *collector) Start(context.Context) error { return nil }

// errStopped is why spans are not sent after Stop.
var errStopped = errors.New("there was no time left to send all")

// Stop implements otlptrace.Client. The exporter calls it after its last request, so
// [Traces.Close] calls it too, when there is no time left: it cuts a request under way.
func (c *collector) Stop(context.Context) error {
	c.stop(errStopped)
	c.web.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. It sends spans, and again if the
// collector is busy.
func (c *collector) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans}) // the same bytes as an ExportTraceServiceRequest
	if err != nil {
		return fmt.Errorf("encode spans: %w", err)
	}
	if len(body) > maxExport {
		return fmt.Errorf("%d bytes of spans are too many for one request", len(body))
	}
	if c.settings.gzip {
		body = compress(body)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(c.stopped, func() { cancel(errStopped) })()
	start, wait := time.Now(), firstRetry
	for {
		err := c.send(ctx, body)
		if context.Cause(ctx) == errStopped {
			return errStopped
		}
		busy, isBusy := errors.AsType[*busyError](err)
		if !isBusy {
			return err
		}
		delay := max(wait/2+rand.N(wait), busy.wait)
		if time.Since(start)+delay > longestRetrying {
			return err
		}
		select {
		case <-time.After(delay):
		case <-ctx.Done():
			return err
		}
		wait = min(wait*3/2, longestRetry)
	}
}

func compress(body []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(body) // a buffer accepts all
	_ = z.Close()
	return b.Bytes()
}

// A busyError means that the collector may accept the spans later.
type busyError struct {
	err  error
	wait time.Duration // that it asks for
}

// Error returns why.
func (e *busyError) Error() string { return e.err.Error() }

// send sends a request once.
func (c *collector) send(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.settings.address.String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = c.settings.headers.Clone()
	req.Header.Set("Content-Type", protobufType)
	if c.settings.gzip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	resp, err := c.web.Do(req)
	if failure, ok := errors.AsType[*url.Error](err); ok {
		err = fmt.Errorf("%s: %w", req.URL.Host, failure.Err) // without the path, which may have a key
		if isTransient(failure) && ctx.Err() == nil {
			return &busyError{err: err}
		}
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	switch code := resp.StatusCode; {
	case code >= 200 && code <= 299:
		if err == nil && resp.Header.Get("Content-Type") == protobufType {
			c.warnOfRejected(answer)
		}
		return nil
	case code == http.StatusTooManyRequests, code == http.StatusBadGateway, code == http.StatusServiceUnavailable, code == http.StatusGatewayTimeout:
		return &busyError{c.refusal(req, resp, answer), retryAfter(resp.Header)}
	}
	return c.refusal(req, resp, answer)
}

func (c *collector) refusal(req *http.Request, resp *http.Response, answer []byte) error {
	return fmt.Errorf("%s answers %s: %q", req.URL.Host, c.show(resp.Status), c.show(string(answer)))
}

// show returns a text of the collector as it may be logged: it may repeat the key that it
// was sent.
func (c *collector) show(text string) string { return clip(c.settings.secrets.Replace(text)) }

// retryAfter returns how long a response asks to wait.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if n, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return time.Until(at)
	}
	return 0
}

// The fields of ExportTraceServiceResponse and of ExportTracePartialSuccess. The
// package with these types links gRPC.
const (
	fieldPartialSuccess = 1
	fieldRejectedSpans  = 1
	fieldErrorMessage   = 2
)

// warnOfRejected logs how many spans a collector has not accepted, and why.
func (c *collector) warnOfRejected(answer []byte) {
	partial := protobufFields(protobufFields(answer)[fieldPartialSuccess].bytes)
	if n, reason := partial[fieldRejectedSpans].number, partial[fieldErrorMessage].bytes; n > 0 || len(reason) > 0 {
		c.log.Warn("the collector has not accepted all traces", "rejected", n, "reason", c.show(string(reason)))
	}
}

// A protobufValue is the value of a field: a number or bytes.
type protobufValue struct {
	number uint64
	bytes  []byte
}

// protobufFields returns the fields of a message by number, nil if it is malformed.
func protobufFields(message []byte) map[protowire.Number]protobufValue {
	fields := map[protowire.Number]protobufValue{}
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil
		}
		message = message[n:]
		var value protobufValue
		switch kind {
		case protowire.VarintType:
			value.number, n = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			value.bytes, n = protowire.ConsumeBytes(message)
		default:
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return nil
		}
		message = message[n:]
		fields[number] = value
	}
	return fields
}

// isTransient reports whether a request may succeed when it is sent again, as after a
// connection that was reset.
func isTransient(failure *url.Error) bool { return failure.Timeout() || failure.Temporary() }
