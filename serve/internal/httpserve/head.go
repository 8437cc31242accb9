package httpserve

import (
	"net/http"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
)

// maxPlainBody is how long the body of a plain request may be.
const maxPlainBody = 64 << 10

// A head is the head of a plain request. Nothing changes it.
type head struct {
	raw     string
	request http.Request
}

// parseHead returns the head of a request, nil if it is not plain. Net/http decides about
// whatever is unusual, so that no request is understood in two ways.
func parseHead(raw string) *head {
	lines, isWhole := strings.CutSuffix(raw, "\r\n\r\n")
	line, lines, _ := strings.Cut(lines, "\r\n")
	path, isPost := strings.CutPrefix(line, "POST ")
	path, is11 := strings.CutSuffix(path, " HTTP/1.1")
	if !isWhole || !isPost || !is11 || !isPlainPath(path) {
		return nil
	}
	h := &head{raw: raw, request: http.Request{
		Method: http.MethodPost, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		URL: &url.URL{Path: path}, RequestURI: path, Header: http.Header{}, ContentLength: -1,
	}}
	for line := range strings.SplitSeq(lines, "\r\n") {
		if !h.add(line) {
			return nil
		}
	}
	if h.request.Host == "" || h.request.ContentLength < 0 {
		return nil
	}
	return h
}

// add adds a header. It reports whether the request is still plain.
func (h *head) add(line string) bool {
	name, value, _ := strings.Cut(line, ":")
	value = strings.Trim(value, " \t")
	if !consistsOf(name, isNameByte) || !consistsOf(value, isTextByte) {
		return false
	}
	r := &h.request
	switch name = textproto.CanonicalMIMEHeaderKey(name); name {
	case "Transfer-Encoding", "Expect", "Upgrade", "Trailer", "Te", "Pragma", "Http2-Settings":
		return false
	case "Connection":
		if !strings.EqualFold(value, "keep-alive") {
			return false
		}
	case "Host":
		known := r.Host != ""
		r.Host = value
		return !known && consistsOf(value, isHostByte)
	case "Content-Length":
		if !h.setLength(value) {
			return false
		}
	}
	r.Header[name] = append(r.Header[name], value)
	return true
}

// setLength sets the length of the body. It reports whether the request is still plain.
func (h *head) setLength(value string) bool {
	length, err := strconv.ParseUint(value, 10, 31)
	if err != nil || length > maxPlainBody || h.request.ContentLength >= 0 {
		return false
	}
	h.request.ContentLength = int64(length)
	return true
}

// isPlainPath reports whether a path is its own clean and unescaped form.
func isPlainPath(path string) bool {
	return strings.HasPrefix(path, "/") && consistsOf(path, isPathByte) && !strings.Contains(path, "//") && !strings.Contains(path, "/.")
}

// consistsOf reports whether a text is not empty and has only bytes of a class.
func consistsOf(text string, class func(byte) bool) bool {
	for i := range len(text) {
		if !class(text[i]) {
			return false
		}
	}
	return text != ""
}

func isAlphanumeric(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func isNameByte(c byte) bool { return isAlphanumeric(c) || c == '-' || c == '_' }
func isPathByte(c byte) bool { return isAlphanumeric(c) || strings.IndexByte("/-_.~", c) >= 0 }
func isHostByte(c byte) bool { return isAlphanumeric(c) || strings.IndexByte(".:-_[]", c) >= 0 }
func isTextByte(c byte) bool { return c >= ' ' && c <= '~' || c == '\t' }
