package provider

import (
	"net/http"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/model"
)

// statusOverloaded is Anthropic's status of an overloaded API, which other
// servers use too.
const statusOverloaded = 529

// KindOfStatus returns the kind of an error that only has an HTTP status.
func KindOfStatus(status int) model.ErrorKind {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return model.KindAuth
	case http.StatusPaymentRequired:
		return model.KindQuota
	case http.StatusRequestEntityTooLarge:
		return model.KindTooLong
	case http.StatusTooManyRequests:
		return model.KindRateLimit
	case http.StatusServiceUnavailable, statusOverloaded:
		return model.KindOverloaded
	case http.StatusRequestTimeout, http.StatusConflict: // of the server's own work
		return model.KindServer
	}
	if status >= 300 && status < 500 {
		return model.KindInvalid
	}
	return model.KindServer
}

// maxErrorText is the number of bytes of a text that an error repeats.
const maxErrorText = 2000

// ErrorText returns what an error repeats of a provider's text: one line without
// secrets, and not too long.
func ErrorText(text string, hide func(string) string) string {
	return jsontree.Clip(hide(text), maxErrorText)
}
