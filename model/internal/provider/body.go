package provider

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// A ForeignAnswerError reports a response that is not one of the API, which no second
// try changes: the base URL is another server's, or lacks a part.
type ForeignAnswerError struct{ what string }

func (e *ForeignAnswerError) Error() string {
	return "the server answered with " + e.what + ", so it is not that of the API; check the base URL"
}

// NewForeignAnswerError returns the error of a response with the text.
func NewForeignAnswerError(text []byte) error {
	return &ForeignAnswerError{fmt.Sprintf("%q", jsontree.Clip(string(bytes.TrimSpace(text)), 200))}
}

// ReadStart returns the body of a successful response, and whether it is one JSON
// document instead of a stream of events. The first characters decide, because servers
// and relays give streams and documents other content types. It returns a
// [ForeignAnswerError] for a web page and for plain text.
func ReadStart(res *http.Response) (body *bufio.Reader, document bool, err error) {
	body = bufio.NewReader(res.Body)
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	first, err := firstCharacter(body)
	switch {
	case err == io.EOF && kind == "text/html", first == '<':
		return nil, false, &ForeignAnswerError{"a web page"}
	case err == io.EOF:
		return body, kind == "application/json", nil
	case err != nil:
		return nil, false, err
	case first == '{', first == '[':
		return body, true, nil
	}
	start, _ := body.Peek(body.Buffered())
	if kind != "text/event-stream" && !beginsEvent(start) {
		start, _ = io.ReadAll(io.LimitReader(body, 1000))
		return nil, false, NewForeignAnswerError(start)
	}
	return body, false, nil
}

// firstCharacter returns the first byte that is neither white space nor part of a byte
// order mark, and does not read it.
func firstCharacter(body *bufio.Reader) (byte, error) {
	for {
		first, err := body.Peek(1)
		if err != nil {
			return 0, err
		}
		if !strings.ContainsRune(" \t\r\n", rune(first[0])) && !bytes.Contains([]byte("\xEF\xBB\xBF"), first) {
			return first[0], nil
		}
		_, _ = body.Discard(1) // it is there
	}
}

// beginsEvent reports whether a text can be the start of a server-sent event.
func beginsEvent(start []byte) bool {
	fields := []string{":", "data", "event", "id", "retry", "error"}
	return slices.ContainsFunc(fields, func(f string) bool {
		return bytes.HasPrefix(start, []byte(f)) || strings.HasPrefix(f, string(start))
	})
}

// redirect returns what to do about a response that redirects, "" if it does not.
func redirect(res *http.Response) string {
	to, err := res.Location()
	if res.StatusCode/100 != 3 || err != nil {
		return ""
	}
	return fmt.Sprintf("the server redirects to %s://%s; check the base URL", to.Scheme, to.Host)
}
