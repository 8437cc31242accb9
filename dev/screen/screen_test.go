package screen

import "testing"

func TestScreen(t *testing.T) {
	s := New(10, 3)
	for _, c := range []byte("one\r\n\x1b[1mtwo\x1b[0m äö\r\nthree four five\r\n") {
		_, _ = s.Write([]byte{c}) // sequences and characters in parts
	}
	if got, want := s.String(), "three four\n five\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := s.All(), "one\ntwo äö\nthree four\n five\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	_, _ = s.Write([]byte("\x1b[9A\r\x1b[Jnew\n"))
	if got, want := s.All(), "one\ntwo äö\nnew\n"; got != want {
		t.Errorf("moved above the screen: got %q, want %q", got, want)
	}
	s.Resize(4, 3)
	if got, want := s.All(), "one\ntwo\näö\nnew\n"; got != want {
		t.Errorf("resized: got %q, want %q", got, want)
	}
	s = New(10, 3)
	_, _ = s.Write([]byte("> helo\x1b[1Dlo\r\nabc\rx\x1b[2C\x1b[1D\x1b[K!\x1b[1A\x1b[5CX"))
	if got, want := s.String(), "> hello X\nxb!\n"; got != want {
		t.Errorf("edited: got %q, want %q", got, want)
	}
}
