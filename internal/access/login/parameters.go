package login

import (
	"net/url"
	"strings"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/oauth"
)

// requestAddress returns the address of an authorization request: that of the endpoint,
// with the parameters of the request and those of the configuration. Parameters in the
// query of the endpoint stay as they are, unless they are ones of these or could take the
// place of one.
func requestAddress(endpoint string, request url.Values, more map[string]string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return endpoint // newPage reports it
	}
	addParameters(request, more)
	ours := map[string]bool{}
	for name := range request {
		ours[strings.ToLower(name)] = true
	}
	var query []string
	for part := range strings.SplitSeq(u.RawQuery, "&") {
		raw, _, _ := strings.Cut(part, "=")
		name, err := url.QueryUnescape(raw)
		name = strings.ToLower(strings.TrimSpace(name)) // some servers ignore case
		if err == nil && part != "" && !ours[name] && !oauth.IsReserved(name) {
			query = append(query, strings.ReplaceAll(part, ";", "%3B")) // some servers separate parameters at it
		}
	}
	u.RawQuery = strings.Join(append(query, request.Encode()), "&")
	u.Fragment, u.RawFragment = "", ""
	return u.String()
}

// addParameters adds the parameters of the configuration to a request.
func addParameters(request url.Values, more map[string]string) {
	for name, value := range more {
		if !oauth.IsReserved(name) {
			request.Set(name, value)
		}
	}
}

// resourceOf returns the resource to ask for a token for, "" for none. Named is what the
// server calls itself.
func resourceOf(a *config.Auth, named string) string {
	switch {
	case a == nil:
		return named
	case a.OmitResource:
		return ""
	case a.Resource != "":
		return a.Resource
	}
	return named
}
