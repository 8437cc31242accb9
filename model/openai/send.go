package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// chatPath is where the Chat Completions API is, below the base URL.
const chatPath = "chat/completions"

// send posts the body and passes the data of each server-sent event to handle,
// until handle reports that the response is complete. It returns an error if
// the stream ends before. A server that answers with one JSON document instead
// of a stream is treated as if that were the only event.
func (e *endpoint) send(ctx context.Context, path string, body []byte, handle func(data []byte) (done bool, err error)) error {
	res, err := e.sender.Post(ctx, path, e.header, body)
	if err == nil {
		defer func() { _ = res.Body.Close() }() // the response has been read
	}
	switch refused, is := errors.AsType[*provider.StatusError](err); {
	case ctx.Err() != nil:
		return e.cancelError(ctx)
	case is:
		return e.refusal(refused)
	case err != nil:
		return e.connectionError(err)
	}
	member := "output"
	if path == chatPath {
		member = "choices"
	}
	if err := readEvents(res, member, handle); err != nil {
		if ctx.Err() != nil {
			return e.cancelError(ctx)
		}
		return e.connectionError(err)
	}
	return nil
}

// readEvents passes the events of the response to handle.
func readEvents(res *http.Response, member string, handle func(data []byte) (done bool, err error)) error {
	body, document, err := provider.ReadStart(res)
	switch {
	case err != nil:
		return err
	case document:
		return readDocument(body, member, handle)
	}
	for data, err := range provider.Events(body, true) {
		if err != nil {
			return err
		}
		if data = bytes.TrimSpace(data); len(data) == 0 {
			continue
		}
		for _, one := range eachEvent(data) {
			if done, err := handle(one); done || err != nil {
				return err
			}
		}
	}
	return nil
}

// readDocument passes the answer of a server that does not stream to handle. Answers of
// the API have the member.
func readDocument(body io.Reader, member string, handle func(data []byte) (done bool, err error)) error {
	data, err := provider.ReadDocument(body)
	if err != nil {
		return err
	}
	all := eachEvent(bytes.TrimSpace(data))
	var list []json.RawMessage
	if json.Unmarshal(data, &list) == nil { // some proxies put an error into one
		all = [][]byte{[]byte("{}")}
		if len(list) > 0 {
			all[0] = list[0]
		}
	}
	for _, one := range all {
		done, err := handle(one)
		if err == nil && !done && wire.Get(one, member) == nil {
			err = provider.NewForeignAnswerError(data)
		}
		if done || err != nil {
			return err
		}
	}
	return nil
}

// eachEvent returns the events in the data of one: some servers leave the empty line
// between events out.
func eachEvent(data []byte) [][]byte {
	lines := bytes.Split(data, []byte("\n"))
	if len(lines) == 1 || json.Valid(data) {
		return [][]byte{data}
	}
	for _, line := range lines {
		if !json.Valid(line) && string(line) != "[DONE]" {
			return [][]byte{data}
		}
	}
	return lines
}
