package vault

import (
	"bufio"
	"context"
	"io"
	"net"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"
)

// sessionBus starts a session bus that can start no services, and returns its address.
func sessionBus(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("dbus-daemon")
	if err != nil {
		t.Skip("there is no dbus-daemon")
	}
	cmd := exec.Command(program, "--session", "--nofork", "--print-address=1", "--address=unix:dir="+t.TempDir())
	cmd.Env = []string{"XDG_DATA_HOME=" + t.TempDir(), "XDG_DATA_DIRS=" + t.TempDir()}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(address)
}

// A secretServiceOf is a keyring on a bus that counts who wants it unlocked.
type secretServiceOf struct{ unlocks atomic.Int32 }

// Unlock is the method of the Secret Service API.
func (s *secretServiceOf) Unlock([]dbus.ObjectPath) ([]dbus.ObjectPath, dbus.ObjectPath, *dbus.Error) {
	s.unlocks.Add(1)
	return nil, "/", nil
}

func serveSecrets(t *testing.T, address string, collections []dbus.ObjectPath, locked bool) *secretServiceOf {
	t.Helper()
	conn, err := dbus.Connect(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	s := &secretServiceOf{}
	if err := conn.Export(s, secretPath, "org.freedesktop.Secret.Service"); err != nil {
		t.Fatal(err)
	}
	export := func(path dbus.ObjectPath, of, name string, value any) {
		if _, err := prop.Export(conn, path, prop.Map{of: {name: {Value: value}}}); err != nil {
			t.Fatal(err)
		}
	}
	export(secretPath, "org.freedesktop.Secret.Service", "Collections", collections)
	for _, c := range collections {
		export(c, "org.freedesktop.Secret.Collection", "Locked", locked)
	}
	if _, err := conn.RequestName(secretService, 0); err != nil {
		t.Fatal(err)
	}
	return s
}

// The session bus reports whether the keyring runs and is locked. Examining it does not
// unlock it.
func TestExamineKeyring(t *testing.T) {
	examine := func(address string) *Condition {
		return Examine(Choice{Kind: Keyring}, t.TempDir(), func(name string) string {
			return map[string]string{"DBUS_SESSION_BUS_ADDRESS": address}[name]
		})
	}
	for name, test := range map[string]struct {
		collections []dbus.ObjectPath
		locked      bool
		state       State
		want        string
	}{
		"unlocked":      {[]dbus.ObjectPath{loginCollection}, false, Usable, ""},
		"locked":        {[]dbus.ObjectPath{loginCollection}, true, Locked, "it is locked"},
		"no collection": {nil, false, Unusable, "it has no collection"},
		"the default":   {[]dbus.ObjectPath{chosenCollection}, false, Usable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			address := sessionBus(t)
			if c := examine(address); c.State != Unusable || !strings.Contains(c.Err.Error(), "no program keeps secrets") || !strings.Contains(c.Err.Error(), "toolpost secret use files") {
				t.Errorf("without a keyring: %+v", c)
			}
			s := serveSecrets(t, address, test.collections, test.locked)
			c := examine(address)
			if c.State != test.state || (c.Err == nil) != (test.want == "") || c.Err != nil && !strings.Contains(c.Err.Error(), test.want) {
				t.Errorf("got %+v", c)
			}
			if n := s.unlocks.Load(); n != 0 {
				t.Errorf("it was asked to unlock %d times", n)
			}
		})
	}
	if c := examine("unix:path=/nowhere"); c.State != Unusable || !strings.Contains(c.Err.Error(), "connect to the session bus") {
		t.Errorf("without a bus: %+v", c)
	}
}

// A session bus that accepts connections and stays silent costs one second.
func TestExamineSilentBus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		state, err := examineBus(func(ctx context.Context) (*dbus.Conn, error) {
			ours, bus := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, bus) }()
			conn, err := dbus.NewConn(ours, dbus.WithContext(ctx))
			if err != nil {
				t.Fatal(err)
			}
			if err := conn.Auth(nil); err != nil {
				conn.Close()
				return nil, err
			}
			return conn, nil
		})
		if state != Unusable || err == nil || !strings.Contains(err.Error(), "connect to the session bus") {
			t.Errorf("got %v, %v", state, err)
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("it took %v", took)
		}
	})
}
