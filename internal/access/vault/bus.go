//go:build linux || freebsd || openbsd || netbsd || dragonfly

package vault

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/godbus/dbus/v5"
)

// Names of the Secret Service API of freedesktop.org, which go-keyring uses too. Its
// calls unlock the keyring, so the state is asked for here.
const (
	secretService    = "org.freedesktop.secrets"
	secretPath       = dbus.ObjectPath("/org/freedesktop/secrets")
	loginCollection  = secretPath + "/collection/login"
	chosenCollection = secretPath + "/aliases/default"
)

// busTime is how long the session bus and the keyring have for all answers. Both are
// programs of this machine.
const busTime = time.Second

// examineSystem asks the session bus about the keyring of the system. It starts no
// program and unlocks nothing.
func examineSystem(getenv func(string) string) (State, error) {
	address, err := busAddress(getenv)
	if err != nil {
		return Unusable, err
	}
	return examineBus(func(ctx context.Context) (*dbus.Conn, error) { return dbus.Connect(address, dbus.WithContext(ctx)) })
}

// examineBus asks a session bus about the keyring of the system.
func examineBus(connect func(context.Context) (*dbus.Conn, error)) (State, error) {
	ctx, cancel := context.WithTimeout(context.Background(), busTime)
	defer cancel()
	conn, err := connect(ctx)
	if err != nil {
		return Unusable, unusable(fmt.Errorf("connect to the session bus: %w", err))
	}
	defer conn.Close()
	var runs bool
	if err := conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.NameHasOwner", 0, secretService).Store(&runs); err != nil {
		return Unusable, unusable(fmt.Errorf("ask the session bus: %w", err))
	}
	if !runs {
		return examineActivation(ctx, conn)
	}
	return examineCollection(ctx, conn)
}

// examineActivation reports whether the bus would start a keyring.
func examineActivation(ctx context.Context, conn *dbus.Conn) (State, error) {
	var names []string
	if err := conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.ListActivatableNames", 0).Store(&names); err != nil {
		return Unusable, unusable(fmt.Errorf("ask the session bus: %w", err))
	}
	if slices.Contains(names, secretService) {
		return Unknown, errors.New("the keyring is not running; the first use starts it, and it may then ask to be unlocked")
	}
	return Unusable, unusable(errors.New("no program keeps secrets on the session bus; install one, such as gnome-keyring"))
}

// examineCollection reports whether the collection that secrets are kept in is unlocked.
func examineCollection(ctx context.Context, conn *dbus.Conn) (State, error) {
	get := func(path dbus.ObjectPath, of, property string) (v dbus.Variant, err error) {
		err = conn.Object(secretService, path).CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", dbus.FlagNoAutoStart, of, property).Store(&v)
		return v, err
	}
	path := chosenCollection
	all, err := get(secretPath, "org.freedesktop.Secret.Service", "Collections")
	if err != nil {
		return Unusable, unusable(fmt.Errorf("ask it for its collections: %w", err))
	}
	if paths, ok := all.Value().([]dbus.ObjectPath); ok && slices.Contains(paths, loginCollection) {
		path = loginCollection
	}
	v, err := get(path, "org.freedesktop.Secret.Collection", "Locked")
	if err != nil {
		return Unusable, unusable(errors.New("it has no collection to keep secrets in; create one, such as with seahorse"))
	}
	if locked, ok := v.Value().(bool); !ok || locked {
		return Locked, unusable(errors.New("it is locked, and asks a person to unlock it when it is used"))
	}
	return Usable, nil
}
