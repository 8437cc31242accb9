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

// longestTable bounds what is read of the system's table of connections.
const longestTable = 32 << 20

// isForeignVisitor reports whether another user of the machine made a connection to a
// port of 127.0.0.1. If that cannot be found out, the visitor is not foreign.
func isForeignVisitor(remote, local netip.AddrPort) bool {
	f, err := os.Open("/proc/net/tcp")
	if err != nil {
		return false
	}
	defer f.Close()
	user, found := ownerOf(io.LimitReader(f, longestTable), remote, local)
	return found && isForeignUser(os.Getuid(), user)
}

// isForeignUser reports whether a browser of a user may not complete a login of own. The
// administrator counts as every user: relays of browsers on the host of a virtual
// machine run as root, and whoever runs toolpost as root may have a browser that does not.
func isForeignUser(own, user int) bool { return user != own && user != 0 && own != 0 }

// ownerOf finds the user of the connection between two addresses in the table of the
// system (proc(5)), in which the client's end has its own address first.
func ownerOf(table io.Reader, client, server netip.AddrPort) (user int, found bool) {
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 8 || f[1] != tableAddress(client) || f[2] != tableAddress(server) {
			continue
		}
		user, err := strconv.Atoi(f[7])
		return user, err == nil
	}
	return 0, false
}

// tableAddress writes an IPv4 address as the table has it: a number in the byte order
// of the machine.
func tableAddress(a netip.AddrPort) string {
	ip := a.Addr().Unmap().As4()
	native := binary.NativeEndian.AppendUint32(nil, binary.BigEndian.Uint32(ip[:]))
	return strings.ToUpper(hex.EncodeToString(native)) + fmt.Sprintf(":%04X", a.Port())
}
