package login

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"sync"
	"time"
)

// A Dialled records which addresses were dialled, and reaches none of them.
type Dialled struct {
	mu   sync.Mutex
	list []string
}

// List returns the addresses.
func (d *Dialled) List() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.list)
}

// Client returns the client for addresses that a server in a network of this kind
// named. Names resolve to the addresses of hosts.
func Client(kind string, hosts map[string]string, d *Dialled) *http.Client {
	n := &network{
		lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
			ip, err := netip.ParseAddr(hosts[host])
			return []netip.Addr{ip}, err
		},
		dial: func(_ context.Context, _, address string) (net.Conn, error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.list = append(d.list, address)
			return nil, net.ErrClosed
		},
		proxy: func(*http.Request) (*url.URL, error) { return nil, nil },
	}
	return n.client(reach(kind))
}

// WatchOften looks at the stored logins of open streams all the time.
func (l *Logins) WatchOften() { l.watchTime = time.Millisecond }

// Streams returns how many streams are watched.
func (l *Logins) Streams() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.sources {
		s.mu.Lock()
		n += len(s.streams)
		s.mu.Unlock()
	}
	return n
}

// Sources returns how many servers have a source of tokens.
func (l *Logins) Sources() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.sources)
}

// ErrLoggedOut ends the streams of a login that has ended.
var ErrLoggedOut = errLoggedOut

// ErrRefused is wrapped by refusals of addresses.
var ErrRefused = errRefused
