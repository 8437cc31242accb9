package screen

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Open opens a pseudo terminal: master reads what is written to slave, and what is written
// to master are keys.
func Open(width, height int) (master, slave *os.File, err error) {
	if master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = SetSize(master, width, height)
	}
	if err == nil {
		slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		return nil, nil, errors.Join(err, master.Close())
	}
	return master, slave, nil
}

// SetSize changes the size of a terminal.
func SetSize(f *os.File, width, height int) error {
	return unix.IoctlSetWinsize(int(f.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(width), Row: uint16(height)})
}

// A Terminal is a pseudo terminal that is shown on a screen, with a person before it.
type Terminal struct {
	*Screen
	File *os.File // of the program

	keys *os.File
	mu   sync.Mutex
	got  string // what was written, since the last Await
	more chan struct{}
}

// OpenTerminal returns a terminal for a program in this process.
func OpenTerminal(width, height int) (*Terminal, error) {
	master, slave, err := Open(width, height)
	if err != nil {
		return nil, err
	}
	t := &Terminal{Screen: New(width, height), File: slave, keys: master, more: make(chan struct{}, 1)}
	go t.follow()
	return t, nil
}

func (t *Terminal) follow() {
	part := make([]byte, 4096)
	for {
		n, err := t.keys.Read(part)
		if err != nil {
			return
		}
		t.mu.Lock()
		t.got += string(part[:n])
		_, _ = t.Write(part[:n]) // it never fails
		t.mu.Unlock()
		select {
		case t.more <- struct{}{}:
		default:
		}
	}
}

// Close closes the terminal.
func (t *Terminal) Close() error { return errors.Join(t.File.Close(), t.keys.Close()) }

// Type presses keys.
func (t *Terminal) Type(keys string) error {
	_, err := t.keys.WriteString(keys)
	return err
}

// SetSize changes the size of the window.
func (t *Terminal) SetSize(width, height int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.Resize(width, height)
	return SetSize(t.keys, width, height)
}

// patience is how long a text is waited for.
const patience = time.Minute

// Await waits until the program has written a text, after that of the last Await.
func (t *Terminal) Await(text string) error {
	return t.until(fmt.Sprintf("%q", text), func() bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		_, rest, found := strings.Cut(t.got, text)
		if found {
			t.got = rest
		}
		return found
	})
}

// Until waits until the rows on the screen are as a person wants to see them.
func (t *Terminal) Until(what string, seen func(rows string) bool) error {
	return t.until(what, func() bool { return seen(t.String()) })
}

func (t *Terminal) until(what string, done func() bool) error {
	timeout := time.After(patience)
	for !done() {
		select {
		case <-t.more:
		case <-timeout:
			return fmt.Errorf("the terminal does not show %s but:\n%s", what, t.String())
		}
	}
	return nil
}
