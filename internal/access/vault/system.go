package vault

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"time"

	"github.com/zalando/go-keyring"
)

const (
	service = "toolpost" // under which the items are kept

	// A locked keyring asks the user, who may not be there.
	longestPrompt = time.Minute
)

// system is the keyring of the system.
type system struct{}

// openSystem returns the keyring of the system. Without a session bus there is
// none on Linux; the library would start one, with an empty keyring.
func openSystem(getenv func(string) string) (items, error) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return system{}, nil
	}
	if _, err := busAddress(getenv); err != nil {
		return nil, err
	}
	return system{}, nil
}

// busAddress returns the address of the session bus.
func busAddress(getenv func(string) string) (string, error) {
	if bus := getenv("DBUS_SESSION_BUS_ADDRESS"); bus != "" && bus != "autolaunch:" {
		return bus, nil
	}
	for _, socket := range []string{"bus", "dbus-session"} {
		path := "/run/user/" + strconv.Itoa(os.Getuid()) + "/" + socket
		if _, err := os.Stat(path); err == nil {
			return "unix:path=" + path, nil
		}
	}
	return "", unusable(errors.New("there is no session bus, and so no keyring, as on servers and in containers"))
}

// Get reads an item.
func (system) Get(user string) (string, error) {
	return runDetached(func() (string, error) { return keyring.Get(service, user) })
}

// Set writes an item.
func (system) Set(user, password string) error {
	_, err := runDetached(func() (string, error) { return "", keyring.Set(service, user, password) })
	return err
}

// Delete removes an item.
func (system) Delete(user string) error {
	_, err := runDetached(func() (string, error) { return "", keyring.Delete(service, user) })
	return err
}

// runDetached runs what may wait for the user without end. The library cannot be
// stopped, so it is left behind.
func runDetached(use func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		text, err := use()
		answers <- answer{text, err}
	}()
	select {
	case a := <-answers:
		return a.text, a.err
	case <-time.After(longestPrompt):
		return "", errors.New("it did not answer within a minute; it may be locked and wait for a person")
	}
}
