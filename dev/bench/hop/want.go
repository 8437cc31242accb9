package main

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// A want is what a right answer has.
type want struct {
	size    int
	encoded int  // length of the text in JSON
	view    bool // the output layer shows a part of it, with a reference to the rest
}

// newWant describes results of size bytes; excerpt reports whether the gateway limits
// outputs.
func newWant(size int, excerpt bool) *want {
	return &want{size: size, encoded: len(encodedText(size)), view: excerpt}
}

// check checks the id, and that the text is complete or, where the output layer
// cuts it, that it is less and has a reference. It does not look at the middle.
func (w *want) check(a *answer, id []byte) error {
	wrong := func(what string) error {
		return fmt.Errorf("%s: %.160q … %.120q (%d bytes)", what, a.head, a.tail[max(0, len(a.tail)-120):], a.n)
	}
	if !bytes.Contains(a.head, id) && !bytes.Contains(a.tail, id) {
		return wrong("not the id that was sent")
	}
	if a.n < kept && bytes.Contains(a.head, []byte(`"error":`)) {
		var m struct{ Error struct{ Message string } }
		if json.Unmarshal(message(a.head), &m) == nil && m.Error.Message != "" {
			return fmt.Errorf("the answer is an error: %s", m.Error.Message)
		}
	}
	begin := bytes.Index(a.head, []byte(first))
	if begin < 0 || bytes.Contains(a.tail, []byte(`"isError":true`)) {
		return wrong("not the result")
	}
	if w.view {
		if a.n > w.encoded || !bytes.Contains(a.head, []byte("output_ref")) && !bytes.Contains(a.tail, []byte("output_ref")) {
			return wrong("not an excerpt with a reference")
		}
		return nil
	}
	end := begin + w.encoded - (a.n - len(a.tail)) // in tail
	if end < len(last) || end >= len(a.tail) || string(a.tail[end-len(last):end]) != last || a.tail[end] != '"' {
		return wrong("the text is not complete")
	}
	return nil
}

// checkWhole compares the text of an answer that was kept whole byte for byte.
func (w *want) checkWhole(a *answer) error {
	var m struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal(message(a.head), &m); err != nil {
		return err
	}
	if len(m.Result.Content) == 0 {
		return fmt.Errorf("no content: %.200s", a.head)
	}
	if got := m.Result.Content[0].Text; !w.view && got != textOf(w.size) {
		return fmt.Errorf("a text of %d bytes that is not what the server sent, %d bytes", len(got), w.size)
	}
	return nil
}
