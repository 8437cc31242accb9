package upstream

import (
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/internal/httpconn"
)

// What the system answers where nothing listens is understood.
func TestRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close() // until then no program can listen at its address
	_, err = net.Dial("tcp", client.LocalAddr().String())
	if !errors.Is(err, httpconn.ErrRefused) || !isNotThereYet(err) || !strings.Contains(advice(err), "nothing listens") {
		t.Errorf("%v: %s", err, advice(err))
	}
}
