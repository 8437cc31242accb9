package mcpserver

import (
	"bytes"
	"net/http"
	"strconv"
	"time"
)

const (
	// writeTime is how long a client may take to read one chunk.
	writeTime  = 30 * time.Second
	writeChunk = 64 << 10
)

// writePaced writes and flushes data. A client that stops reading breaks its
// connection; a slow one may take as long as it needs.
func writePaced(w http.ResponseWriter, data []byte) (n int, err error) {
	c := http.NewResponseController(w)
	defer func() { _ = c.SetWriteDeadline(time.Time{}) }()
	for n < len(data) && err == nil {
		var more int
		_ = c.SetWriteDeadline(time.Now().Add(writeTime)) // not every writer has deadlines
		more, err = w.Write(data[n:min(n+writeChunk, len(data))])
		n += more
	}
	if err == nil {
		_ = c.SetWriteDeadline(time.Now().Add(writeTime))
		_ = c.Flush() // a writer that cannot flush does so at its end
	}
	return n, err
}

// writeEvent writes one server-sent event. A carriage return would end a line;
// in JSON it can only be white space.
func writeEvent(w http.ResponseWriter, name string, data []byte) error {
	b := make([]byte, 0, len(data)+len(name)+32)
	b = append(append(append(b, "event: "...), name...), '\n')
	if bytes.IndexByte(data, '\r') >= 0 {
		data = bytes.ReplaceAll(data, []byte{'\r'}, []byte{' '})
	}
	for line := range bytes.SplitSeq(data, []byte{'\n'}) {
		b = append(append(append(b, "data: "...), line...), '\n')
	}
	_, err := writePaced(w, append(b, '\n'))
	return err
}

func writeJSON(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = writePaced(w, body) // the client is gone if it fails
}
