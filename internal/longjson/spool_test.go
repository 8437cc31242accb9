package longjson

import (
	"bytes"
	"strings"
	"testing"
)

// Clients hear why a file cannot be read, but not where it is.
func TestErrorsOfFilesNameNoPath(t *testing.T) {
	dir := t.TempDir()
	s := NewSpool(dir, new(Buffers))
	defer s.Close()
	if err := s.Add(bytes.Repeat([]byte("x"), inBuffers+1), 0); err != nil || s.file == nil {
		t.Fatalf("it is in no file: %v", err)
	}
	s.file.Close()
	for name, err := range map[string]error{
		"ReadAt": func() error { _, err := s.ReadAt(make([]byte, 1), 0); return err }(),
		"Copy":   s.Copy(new(bytes.Buffer), Span{0, 1}),
	} {
		if err == nil || strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
