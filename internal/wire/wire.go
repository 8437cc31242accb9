// Package wire reads and writes JSON-RPC 2.0 messages of MCP as the bytes they are, and
// makes definitions and results valid that strict clients would refuse. A message is
// scanned once: [Message] holds what was received and where the members stand that
// Toolpost uses. Messages are written by splicing: a new envelope, changed members, and
// otherwise the bytes that were received.
//
//	bytes ─▶ Parse (strict: what clients send)    ─┐
//	bytes ─▶ Read  (lenient: what servers send)   ─┴▶ Message ─▶ Get, Set, Delete ─▶ AppendRequest, AppendResult, …
//
// [Calls] holds the requests that one side of a connection has sent, [Served]
// those that it serves.
package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
	"unsafe"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// Protocol versions of MCP that make a difference.
const (
	LastBatch   = "2025-03-26" // later versions have no batches
	LastSession = "2025-11-25" // the newest version with sessions
	Stateless   = "2026-07-28" // no sessions, and no requests from server to client
)

// Versions are the supported protocol versions, newest first.
var Versions = []string{Stateless, LastSession, "2025-06-18", LastBatch, "2024-11-05"}

// Members of _meta that requests of 2026-07-28 have.
const (
	MetaPrefix       = "io.modelcontextprotocol/"
	MetaVersion      = MetaPrefix + "protocolVersion"
	MetaClientInfo   = MetaPrefix + "clientInfo"
	MetaCapabilities = MetaPrefix + "clientCapabilities"
	MetaLogLevel     = MetaPrefix + "logLevel"
)

// LogMessage is the method of log messages, which go to one client at most.
const LogMessage = "notifications/message"

// Codes of errors (JSON-RPC 2.0 §5.1; MCP 2026-07-28, Errors).
const (
	CodeParse               = -32700
	CodeInvalidRequest      = -32600
	CodeMethodNotFound      = -32601
	CodeInvalidParams       = -32602
	CodeInternal            = -32603
	CodeHeaderMismatch      = -32020
	CodeMissingCapability   = -32021
	CodeUnsupportedProtocol = -32022
)

// An Error is the error of a response.
type Error struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string { return e.Message }

// Errorf returns an Error with a formatted message.
func Errorf(code int64, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// ReadError reads the error of a response, whatever it is.
func ReadError(raw []byte) *Error {
	e := &Error{Message: Unquote(Get(raw, "message")), Data: Get(raw, "data")}
	e.Code, _ = Number(Get(raw, "code"))
	if e.Message == "" {
		e.Message = fmt.Sprintf("the error has no message: %.300q", raw)
	}
	return e
}

// Quote returns s as a JSON string. Invalid UTF-8 is replaced.
func Quote(s string) json.RawMessage {
	return AppendQuote(make([]byte, 0, len(s)+len(s)/16+2), s)
}

// AppendQuote appends s as a JSON string, long parts without escapes at once.
func AppendQuote(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		b, _ = jsontext.AppendQuote(b, s) // the error only reports the replacement
		return b
	}
	b = append(b, '"')
	for {
		b, s = jsontree.AppendText(b, s)
		n, _ := jsontree.LiteralText(unsafe.Slice(unsafe.StringData(s), len(s))) // no copy: it only reads
		b = append(b, s[:n]...)
		if n == len(s) {
			return append(b, '"')
		}
		if s[n] == '\n' {
			b = append(b, `\n`...)
		} else {
			escape, _ := jsontext.AppendQuote(b, s[n:n+1])
			b = append(b, escape[len(b)+1:len(escape)-1]...)
		}
		s = s[n+1:]
	}
}

// Unquote returns the text of a JSON string, "" for any other value.
func Unquote(raw []byte) string {
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	if text := raw[1 : len(raw)-1]; bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) {
		return string(text)
	}
	text, _ := jsontext.AppendUnquote(nil, raw) // the error only reports replaced characters
	return string(text)
}

// AppendRequest appends a request, or a notification if id is nil.
func AppendRequest(b, id []byte, method string, params []byte) []byte {
	b = append(b, `{"jsonrpc":"2.0"`...)
	if id != nil {
		b = append(append(b, `,"id":`...), id...)
	}
	b = append(append(b, `,"method":`...), Quote(method)...)
	if params != nil {
		b = append(append(b, `,"params":`...), params...)
	}
	return append(b, '}')
}

// AppendResult appends the response that carries a result.
func AppendResult(b, id, result []byte) []byte {
	b = append(appendResponse(b, id), `,"result":`...)
	return append(append(b, result...), '}')
}

// AppendError appends the response that carries an error.
func AppendError(b, id []byte, e *Error) []byte {
	b = append(appendResponse(b, id), `,"error":{"code":`...)
	b = strconv.AppendInt(b, e.Code, 10)
	b = append(append(b, `,"message":`...), Quote(e.Message)...)
	if e.Data != nil {
		b = append(append(b, `,"data":`...), e.Data...)
	}
	return append(b, '}', '}')
}

// Line returns a message as one line, for stdio. Line breaks in it are white
// space of JSON; they are replaced in place.
func Line(message []byte) []byte {
	for _, c := range []byte("\r\n") {
		for rest := message; ; {
			i := bytes.IndexByte(rest, c)
			if i < 0 {
				break
			}
			rest[i] = ' '
			rest = rest[i+1:]
		}
	}
	return append(message, '\n')
}

// ReadLine returns the next line without its line feed; its memory is the
// caller's. Of a line longer than most bytes the rest is skipped, and the error is
// [bufio.ErrTooLong]. The parts of a long line are joined once, so that it costs
// twice its size and no more.
func ReadLine(r *bufio.Reader, most int) ([]byte, error) {
	var parts [][]byte
	for size := 0; ; {
		part, err := r.ReadSlice('\n')
		part = bytes.TrimSuffix(part, []byte("\n"))
		if size += len(part); size > most {
			parts = nil
		} else {
			parts = append(parts, bytes.Clone(part))
		}
		switch {
		case err == bufio.ErrBufferFull:
		case err != nil && size == 0:
			return nil, err
		case size > most:
			return nil, bufio.ErrTooLong
		case len(parts) == 1:
			return parts[0], nil
		default:
			return bytes.Join(parts, nil), nil
		}
	}
}

func appendResponse(b, id []byte) []byte {
	if id == nil {
		id = []byte("null")
	}
	return append(append(b, `{"jsonrpc":"2.0","id":`...), id...)
}
