package upstream

import "syscall"

// Errors of Windows when a server cannot be reached. The numbers of package syscall
// with the names of other systems are invented there.
const (
	connReset       = syscall.Errno(10054) // WSAECONNRESET
	hostUnreachable = syscall.Errno(10065) // WSAEHOSTUNREACH
)
