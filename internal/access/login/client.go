package login

import (
	"net/http"
	"net/url"
	"slices"

	"golang.org/x/oauth2"
)

// A client is Toolpost as an authorization server knows it, with the way in which it
// authenticates there.
type client struct {
	ID     string           `json:"id"`
	Secret string           `json:"secret,omitempty"`
	Style  oauth2.AuthStyle `json:"style,omitempty"`
	InBody bool             `json:"id_in_body,omitempty"` // the id is in the body too; for AuthStyleInHeader
	From   string           `json:"from"`                 // configuration, document or registration
}

// Where a client comes from.
const (
	fromConfiguration = "configuration"
	fromDocument      = "document"
	fromRegistration  = "registration"
)

// authenticate adds the client to a request.
func (c *client) authenticate(header http.Header, form url.Values) {
	if c.Style == oauth2.AuthStyleInHeader {
		request := &http.Request{Header: header}
		request.SetBasicAuth(url.QueryEscape(c.ID), url.QueryEscape(c.Secret)) // RFC 6749, §2.3.1
		if c.InBody {
			form.Set("client_id", c.ID)
		}
		return
	}
	form.Set("client_id", c.ID)
	if c.Secret != "" {
		form.Set("client_secret", c.Secret)
	}
}

// ways returns the client in each way to authenticate, in the order to try them. Some
// servers find the client of a Basic header only if its id is in the body too. How a
// client of the configuration was registered is a guess.
func (c client) ways() []client {
	ways := []client{c}
	if c.Style != oauth2.AuthStyleInHeader {
		return ways
	}
	other := c
	other.InBody = !c.InBody
	ways = append(ways, other)
	if c.From == fromConfiguration {
		other.Style, other.InBody = oauth2.AuthStyleInParams, false
		ways = append(ways, other)
	}
	return ways
}

// methodOf returns how a new client shall authenticate: without a secret, where that is
// supported. Some servers that list client_secret_basic refuse it.
func methodOf(supported []string) string {
	for _, m := range []string{"none", "client_secret_post", "client_secret_basic"} {
		if slices.Contains(supported, m) {
			return m
		}
	}
	return "none"
}

// styleOf returns how a known client authenticates. The default of servers that do not
// say is Basic (RFC 8414, §2).
func styleOf(supported []string, secret string) oauth2.AuthStyle {
	if secret == "" || len(supported) > 0 && !slices.Contains(supported, "client_secret_basic") {
		return oauth2.AuthStyleInParams
	}
	return oauth2.AuthStyleInHeader
}

// styleOfAnswer returns how a client authenticates that was registered with a method. An
// answer without a method has the one that was asked for.
func styleOfAnswer(method, asked, secret string) oauth2.AuthStyle {
	if method == "" {
		method = asked
	}
	if secret != "" && (method == "client_secret_basic" || method == "none" && asked == "none") {
		return oauth2.AuthStyleInHeader
	}
	return oauth2.AuthStyleInParams
}
