//go:build !(linux || freebsd || openbsd || netbsd || dragonfly)

package vault

import (
	"errors"
	"runtime"
)

// examineSystem describes the keyring of the system. The Credential Manager of Windows
// is open while its user is logged in. Whether the keychain of macOS is
// locked is not known before it is used, which may ask the user.
func examineSystem(func(string) string) (State, error) {
	if runtime.GOOS == "windows" {
		return Usable, nil
	}
	return Unknown, errors.New("whether the keychain is locked is known when it is used; it may then ask to be unlocked")
}
