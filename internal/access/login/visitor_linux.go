package login

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// longestTable bounds what is read of each of the system's tables of connections.
const longestTable = 32 << 20

// isForeignVisitor reports whether another user of the machine made a connection to a
// port of 127.0.0.1.
func isForeignVisitor(remote, local netip.AddrPort) bool {
	open := func(path string) (io.ReadCloser, error) { return os.Open(path) }
	return isForeignTo(os.Getuid(), open, remote, local)
}

// isForeignTo reports whether a connection is not known to be of the user own, whose
// browser completes the login. A connection that is in no table is foreign: whoever
// resets it removes it from the table before it is looked up. Only if the system shows no
// tables, no visitor is foreign. The client's socket may be one of IPv6, also for an
// address of IPv4.
//
// The administrator counts as every user: relays of browsers on the host of a virtual
// machine run as root, and whoever runs toolpost as root may have a browser that does not.
func isForeignTo(own int, open func(path string) (io.ReadCloser, error), remote, local netip.AddrPort) bool {
	if own == 0 {
		return false
	}
	shown := false
	for _, path := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		table, err := open(path)
		if err != nil { // a system without IPv6 has no tcp6
			continue
		}
		shown = true
		user, found := ownerOf(io.LimitReader(table, longestTable), remote, local)
		table.Close()
		if found {
			return user != own && user != 0
		}
	}
	return shown
}

// ownerOf finds the user of the connection between two addresses in a table of the
// system (proc(5)), in which the client's end has its own address first. A connection
// that its process has closed has no inode and no user: its row has zeros.
func ownerOf(table io.Reader, client, server netip.AddrPort) (user int, found bool) {
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 10 || !isAddress(f[1], client) || !isAddress(f[2], server) || f[9] == "0" {
			continue
		}
		user, err := strconv.Atoi(f[7])
		return user, err == nil
	}
	return 0, false
}

// isAddress reports whether a table's text is an address, in the form of IPv4 or IPv6.
func isAddress(text string, a netip.AddrPort) bool {
	long := a.Addr().As16()
	if text == tableAddress(long[:], a.Port()) {
		return true
	}
	return a.Addr().Unmap().Is4() && text == tableAddress(long[12:], a.Port())
}

// tableAddress writes an address as the tables have it: numbers of 32 bits in the byte
// order of the machine.
func tableAddress(ip []byte, port uint16) string {
	var native []byte
	for ; len(ip) > 0; ip = ip[4:] {
		native = binary.NativeEndian.AppendUint32(native, binary.BigEndian.Uint32(ip))
	}
	return strings.ToUpper(hex.EncodeToString(native)) + fmt.Sprintf(":%04X", port)
}
