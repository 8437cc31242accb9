package upstream

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"sync"
	"sync/atomic"
)

// Limits of the cookies of one connection. Further ones are not kept.
const (
	maxCookies     = 50
	maxCookiesSize = 16 << 10 // bytes of all together
)

// cookies are those of one connection to a server, by which balancers lead all its
// requests to one process. They stay in memory, and end with the connection: another
// connection does not get them. Only the origin of the server gets them, since the
// client of the connection reaches no other.
type cookies struct {
	jar *cookiejar.Jar
	any atomic.Bool // there is a cookie

	mu    sync.Mutex
	sizes map[string]int // of each cookie, by what distinguishes it
	size  int
}

// withCookies returns a client that keeps the cookies of one connection.
func withCookies(client *http.Client) *http.Client {
	own := *client
	jar, _ := cookiejar.New(nil) // the error is always nil
	own.Jar = &cookies{jar: jar, sizes: map[string]int{}}
	return &own
}

// SetCookies implements [http.CookieJar].
func (c *cookies) SetCookies(u *url.URL, set []*http.Cookie) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var kept []*http.Cookie
	for _, cookie := range set {
		key := cookie.Name + ";" + cookie.Path
		size := len(key) + len(cookie.Value)
		before, known := c.sizes[key]
		if !known && len(c.sizes) >= maxCookies || c.size-before+size > maxCookiesSize {
			continue
		}
		c.sizes[key] = size
		c.size += size - before
		own := *cookie
		own.Domain = "" // other hosts of the domain do not get it
		kept = append(kept, &own)
	}
	if len(kept) > 0 {
		c.jar.SetCookies(u, kept)
		c.any.Store(true)
	}
}

// Cookies implements [http.CookieJar].
func (c *cookies) Cookies(u *url.URL) []*http.Cookie {
	if !c.any.Load() {
		return nil
	}
	return c.jar.Cookies(u)
}
