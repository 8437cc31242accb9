package gemini

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/model"
)

// A status is the error of Google's services, google.rpc.Status.
type status struct {
	Code    int      `json:"code"`
	Message string   `json:"message"`
	Status  string   `json:"status"`
	Details []detail `json:"details"`
}

// A detail has the members of google.rpc.ErrorInfo, RetryInfo and QuotaFailure.
type detail struct {
	Reason     string `json:"reason"`
	RetryDelay string `json:"retryDelay"`
	Violations []struct {
		QuotaID    string `json:"quotaId"`
		QuotaValue string `json:"quotaValue"`
	} `json:"violations"`
}

// statusError is the error that the body of a response describes.
func (g *generator) statusError(code int, header http.Header, body []byte) *model.Error {
	var read struct {
		Error *status `json:"error"`
	}
	object := bytes.TrimPrefix(bytes.TrimSpace(body), []byte("[")) // it may be in a list, as chunks of a response are
	_ = json.NewDecoder(bytes.NewReader(object)).Decode(&read)     // members of unexpected types are left out
	s := read.Error
	if s == nil {
		s = &status{Message: strings.TrimSpace(string(body))}
	}
	if s.Message == "" {
		s.Message = http.StatusText(code)
	}
	e := g.failure(code, s)
	if e.RetryAfter == 0 {
		e.RetryAfter = retryAfter(header.Get("Retry-After"))
	}
	return e
}

// failure is the error that s describes.
func (g *generator) failure(code int, s *status) *model.Error {
	e := &model.Error{Origin: g.origin, Kind: s.kind(code), Status: code, Text: jsontree.Clip(g.hide(s.Message), 2000)}
	for _, d := range s.Details {
		if delay, err := time.ParseDuration(d.RetryDelay); err == nil && delay > 0 {
			e.RetryAfter = delay
		}
	}
	return e
}

// tokenLimit matches the messages about a conversation that is too long.
var tokenLimit = lazyregexp.New(`(?i)(token count .*exceeds|exceeds the maximum number of tokens|payload size exceeds)`)

// kind returns the kind of an error that came with the HTTP status code.
func (s *status) kind(code int) string {
	switch {
	case s.has("API_KEY_INVALID"):
		return model.KindAuth // Google answers 400
	case s.has("BILLING_DISABLED"):
		return model.KindQuota
	case tokenLimit.MatchString(s.Message):
		return model.KindTooLong
	}
	switch code {
	case http.StatusUnauthorized, http.StatusForbidden:
		return model.KindAuth
	case http.StatusPaymentRequired:
		return model.KindQuota
	case http.StatusRequestEntityTooLarge:
		return model.KindTooLong
	case http.StatusTooManyRequests:
		return s.limit()
	case http.StatusServiceUnavailable:
		return model.KindOverloaded
	}
	if code >= 400 && code < 500 {
		return model.KindInvalid
	}
	return model.KindServer
}

func (s *status) has(reason string) bool {
	for _, d := range s.Details {
		if d.Reason == reason {
			return true
		}
	}
	return false
}

// limit distinguishes a limit of requests a minute from one that holds until the
// next day, from one that is 0, and from credit that is used up.
func (s *status) limit() string {
	if strings.Contains(s.Message, "credits are depleted") {
		return model.KindQuota
	}
	for _, d := range s.Details {
		for _, v := range d.Violations {
			if strings.Contains(v.QuotaID, "PerDay") || v.QuotaValue == "0" {
				return model.KindQuota
			}
		}
	}
	return model.KindRateLimit
}

// retryAfter reads the header of that name: seconds or a date.
func retryAfter(value string) time.Duration {
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 && seconds < 1e9 {
		return time.Duration(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}
