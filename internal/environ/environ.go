// Package environ selects the environment variables that started programs get.
package environ

import (
	"os"
	"slices"
	"strings"
)

// Common are the variables that programs need to start, to find their files and
// to reach the network. Every other variable may be a secret, whatever its
// name. A * stands for any letters.
const Common = ` PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TZ TMPDIR TMP TEMP
HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE NODE_EXTRA_CA_CERTS
NVM_DIR VOLTA_HOME PNPM_HOME BUN_INSTALL UV_CACHE_DIR PYTHONIOENCODING GOPATH GOCACHE CARGO_HOME
SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT OS USERNAME USERPROFILE HOMEDRIVE HOMEPATH APPDATA LOCALAPPDATA
PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) PROCESSOR_ARCHITECTURE NUMBER_OF_PROCESSORS `

// Select returns the entries of the environment for which pass reports true.
func Select(pass func(name, value string) bool) []string {
	return slices.DeleteFunc(os.Environ(), func(entry string) bool {
		name := Name(entry)
		return name == entry || !pass(name, entry[len(name)+1:])
	})
}

// Name returns what is before the "=" of an entry, which on Windows may be its
// own first character. An entry without "=" is a name.
func Name(entry string) string {
	if i := strings.IndexByte(entry[min(1, len(entry)):], '='); i >= 0 {
		return entry[:i+1]
	}
	return entry
}

// Matches reports whether a name is in a list of names, in which a * stands for
// any letters.
func Matches(names []string, name string) bool {
	return slices.ContainsFunc(names, func(p string) bool {
		before, after, star := strings.Cut(p, "*")
		return p == name || star && len(name) >= len(p)-1 && strings.HasPrefix(name, before) && strings.HasSuffix(name, after)
	})
}
