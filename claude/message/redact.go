package message

import "github.com/toolpost/toolpost/internal/secret"

const (
	maxLogged       = 500 // bytes of a message in a log
	maxLoggedString = 100 // bytes of one string in it
	maxName         = 200 // bytes of a name or a value in a log
)

// redactForLog returns the beginning of a redacted JSON value, for a log.
func redactForLog(raw []byte) string {
	clear, _ := secret.RedactJSON(raw, &secret.JSONOptions{Most: maxLogged, MaxText: maxLoggedString})
	return shorten(string(clear), maxLogged)
}
