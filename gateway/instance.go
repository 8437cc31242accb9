package gateway

import "strings"

// Instances returns the value of [upstream.InstanceHeader]: the id of this
// gateway and those of the gateways behind its servers. An HTTP server for the
// gateway sends this header, so that a gateway does not become its own
// upstream.
func (g *Gateway) Instances() string {
	all := []string{g.opts.Instance}
	for _, m := range g.current() {
		if up, ok := m.up.(interface{ Instances() []string }); ok {
			all = append(all, up.Instances()...)
		}
	}
	return strings.Join(all, " ")
}
