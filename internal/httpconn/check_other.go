//go:build !unix

package httpconn

import "net"

// canCheck is false: net/http finds out with a goroutine for each connection
// whether the server has closed it.
const canCheck = false

type check struct{}

func newCheck(net.Conn) *check { return nil }

func (*check) alive() bool { return false }
