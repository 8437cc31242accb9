package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// registry answers as an MCP registry does (API v0.1).
func registry(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch r.URL.EscapedPath() {
	case "/v0.1/servers/io.github.user%2Fweather/versions/latest":
		_, _ = io.WriteString(w, `{"server": {"$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
			"name": "io.github.user/weather", "description": "Weather", "version": "1.0.2",
			"packages": [{"registryType": "npm", "registryBaseUrl": "https://registry.npmjs.org", "identifier": "@user/weather", "version": "1.0.2",
				"transport": {"type": "stdio"}, "environmentVariables": [{"name": "API_KEY", "isRequired": true, "isSecret": true}]}]},
			"_meta": {"io.modelcontextprotocol.registry/official": {"status": "active", "isLatest": true, "publishedAt": "2026-01-01T00:00:00Z"}}}`)
	case "/v0.1/servers/io.github.user%2Fmoved/versions/latest":
		http.Redirect(w, r, "http://127.0.0.1:1/server.json", http.StatusFound)
	default:
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"error": "Server not found"}`)
	}
}

func TestAddFromRegistry(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(registry))
	t.Cleanup(s.Close)
	file := filepath.Join(t.TempDir(), "toolpost.json")
	add := func(name string) (string, error) {
		var out bytes.Buffer
		root := rootCommand()
		root.SetOut(&out)
		root.SetErr(&out)
		root.SetIn(strings.NewReader(""))
		root.SetArgs([]string{"add", name, "--registry", s.URL + "/", "--config", file, "--yes"})
		err := root.ExecuteContext(t.Context())
		return out.String(), err
	}
	if out, err := add("io.github.user/weather"); err != nil {
		t.Fatal(err, out)
	}
	data, err := os.ReadFile(file)
	for _, want := range []string{`"@user/weather@1.0.2"`, `"API_KEY": "${TOOLPOST_WEATHER__API_KEY}"`} {
		if err != nil || !strings.Contains(string(data), want) {
			t.Errorf("got %s %v, want %s in it", data, err, want)
		}
	}
	for name, want := range map[string]string{"io.github.user/none": "404", "io.github.user/moved": "redirects to 127.0.0.1:1"} {
		if _, err := add(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
}
