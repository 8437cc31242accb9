package main

import (
	"net/http"
	"net/http/httputil"
	"net/url"
)

// newProxy returns a bare reverse proxy, the least that a hop over HTTP costs.
func newProxy(target string) (http.Handler, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, err
	}
	p := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: u.Scheme, Host: u.Host})
	// The default keeps 2 idle connections for each host, so that 32 clients would
	// dial for most calls.
	p.Transport = &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Without it, net/http may close the body of the request while it is still
		// being forwarded.
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		p.ServeHTTP(w, r)
	}), nil
}
