package owner

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/callers"
	"github.com/toolpost/toolpost/upstream"
)

const sampleToken = "sample-token-0123456789abcdef0123456789"

func TestUseToken(t *testing.T) {
	t.Setenv(TokenVariable, sampleToken)
	for address, want := range map[string]bool{
		"http://127.0.0.1:7717/mcp": true, "http://localhost:7717/mcp": true, "http://[::1]:7717/mcp": true,
		"http://127.0.0.1.example.org/mcp": false, "http://10.1.2.3:7717/mcp": false, "https://127.0.0.1/mcp": false,
		"http://user:pw@127.0.0.1/mcp": false, "": false,
	} {
		cfg := &config.Config{Servers: []config.Server{{Config: upstream.Config{URL: address}}}}
		UseToken(cfg)
		if got := cfg.Servers[0].Wrap != nil; got != want {
			t.Errorf("%q: %v", address, got)
		}
	}
	cfg := &config.Config{Servers: []config.Server{{Config: upstream.Config{URL: "http://127.0.0.1/", Headers: map[string]string{"authorization": "x"}}}}}
	if UseToken(cfg); cfg.Servers[0].Wrap != nil {
		t.Error("a header of the user's is replaced")
	}
}

func TestStoredToken(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "toolpost", "token")
	var all sync.WaitGroup
	tokens := make([]string, 20)
	for i := range tokens { // many programs at the first start: all have the same
		all.Go(func() {
			var err error
			if tokens[i], err = storeToken(file, false); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, token := range tokens {
		if token != tokens[0] || callers.CheckToken(token) != nil {
			t.Fatalf("%q", tokens)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(file)); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
	if token, err := storeToken(file, true); err != nil || token == tokens[0] {
		t.Errorf("not replaced: %v", err)
	}
}

func TestRefusedTokenFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes are not known there")
	}
	tests := []struct {
		name      string
		text      string
		file, dir os.FileMode
		want      string
	}{
		{"good", sampleToken + "\n", 0o600, 0o700, ""},
		{"in a folder that others read", sampleToken, 0o400, 0o755, ""},
		{"in a folder for everybody's files", sampleToken, 0o600, 0o777 | os.ModeSticky, ""},
		{"read by the group", sampleToken, 0o640, 0o700, "only you may own and read it"},
		{"written by others", sampleToken, 0o602, 0o700, "only you may own and read it"},
		{"replaced by others", sampleToken, 0o600, 0o722, "others can replace it"},
		{"empty", "", 0o600, 0o700, "has 0 characters"},
		{"short", "abc", 0o600, 0o700, "has 3 characters"},
		{"two lines", sampleToken + "\n" + sampleToken, 0o600, 0o700, "contains spaces"},
		{"long", strings.Repeat("x", callers.LongestToken+1), 0o600, 0o700, "characters; want"},
	}
	for _, tt := range tests {
		dir := filepath.Join(t.TempDir(), "dir")
		file := filepath.Join(dir, "token")
		if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(file, []byte(tt.text), 0o600), os.Chmod(file, tt.file), os.Chmod(dir, tt.dir)); err != nil {
			t.Fatal(err)
		}
		token, err := ReadToken(file)
		switch {
		case tt.want == "" && (err != nil || token != sampleToken):
			t.Errorf("%s: %v", tt.name, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		case err != nil && strings.Contains(err.Error(), sampleToken):
			t.Errorf("%s: the error shows the token", tt.name)
		}
	}
	if _, err := ReadToken(t.TempDir()); err == nil {
		t.Error("a folder is read")
	}
}
