package gemini

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
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
		e.RetryAfter = provider.RetryAfter(header)
	}
	return e
}

// failure is the error that s describes.
func (g *generator) failure(code int, s *status) *model.Error {
	e := &model.Error{Origin: g.origin, Kind: s.kind(code), Status: code, Text: provider.ErrorText(s.Message, g.sender.Hide)}
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
func (s *status) kind(code int) model.ErrorKind {
	switch {
	case s.has("API_KEY_INVALID"):
		return model.KindAuth // Google answers 400
	case s.has("BILLING_DISABLED"):
		return model.KindQuota
	case tokenLimit.MatchString(s.Message):
		return model.KindTooLong
	}
	if code == http.StatusTooManyRequests {
		return s.limit()
	}
	return provider.KindOfStatus(code)
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
func (s *status) limit() model.ErrorKind {
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
