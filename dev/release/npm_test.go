//go:build unix

package main

import (
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestNPMPackages: the launcher depends on the package of each platform and starts its
// program; no package runs anything when it is installed.
func TestNPMPackages(t *testing.T) {
	r := stubRelease(t, "v9.8.7")
	if err := writeNPM(r); err != nil {
		t.Fatal(err)
	}
	var launcher npmPackage
	contents := untar(t, read(t, filepath.Join(r.out, "npm/toolpost-9.8.7.tgz")))
	if err := json.Unmarshal(contents["package/package.json"], &launcher); err != nil {
		t.Fatal(err)
	}
	want := []string{"@toolpost/darwin-arm64", "@toolpost/darwin-x64", "@toolpost/linux-arm64", "@toolpost/linux-x64", "@toolpost/win32-arm64", "@toolpost/win32-x64"}
	if got := slices.Sorted(maps.Keys(launcher.Optional)); !slices.Equal(got, want) {
		t.Errorf("the launcher depends on %q, want %q", got, want)
	}
	if len(contents["package/"+launcher.Commands["toolpost"]]) == 0 {
		t.Errorf("the launcher has no %s", launcher.Commands["toolpost"])
	}
	for _, name := range want {
		contents := untar(t, read(t, filepath.Join(r.out, "npm/toolpost-"+strings.TrimPrefix(name, "@toolpost/")+"-9.8.7.tgz")))
		var members map[string]any
		var p npmPackage
		text := contents["package/package.json"]
		if err := json.Unmarshal(text, &members); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &p); err != nil {
			t.Fatal(err)
		}
		program := "package/bin/toolpost"
		if p.Systems[0] == "win32" {
			program += ".exe"
		}
		if p.Name != name || name != "@toolpost/"+p.Systems[0]+"-"+p.CPUs[0] || p.Version != launcher.Optional[name] || members["scripts"] != nil || len(contents[program]) == 0 {
			t.Errorf("the package %s is\n%s", name, text)
		}
	}
}

// TestNPX installs and runs the packages of a registry on loopback, with npx and npm.
func TestNPX(t *testing.T) {
	npm, npx := need(t, "npm"), need(t, "npx")
	r := liveRelease(t, writeNPM)
	registry := npmRegistry(t, filepath.Join(r.out, "npm"))
	m := newMachine(t, "npm_config_registry="+registry, "npm_config_update_notifier=false", "npm_config_audit=false", "npm_config_fund=false")
	before := m.files()
	m.tryOut(npx, "--yes", "toolpost")
	if err := os.RemoveAll(m.path(".npm")); err != nil { // which has no more than npm's cache
		t.Fatal(err)
	}
	m.unchanged(before)

	prefix := m.path("global")
	m.run(npm, "install", "--global", "--prefix", prefix, "toolpost")
	toolpost := filepath.Join(prefix, "bin/toolpost")
	for _, node := range append([]string{need(t, "node")}, nodes(t)...) { // with and without execve
		s := m.serve(node, toolpost, "serve", "--addr", "127.0.0.1:0")
		m.lists([]string{node, toolpost, "list", s.address}, nil)
		s.end(s.cmd.Process.Pid) // the launcher alone
	}
	m.run(toolpost, "uninstall", "--yes")
	if packages, err := filepath.Glob(prefix + "/lib/node_modules/toolpost/node_modules/@toolpost/*"); len(packages) != 1 {
		t.Errorf("npm installed %q, %v; want the package of this platform only", packages, err)
	}
	// npm leaves a package out that it cannot get or that the user does not want.
	if err := os.RemoveAll(prefix + "/lib/node_modules/toolpost/node_modules"); err != nil {
		t.Fatal(err)
	}
	if out, err := m.command(toolpost, "version").CombinedOutput(); err == nil || !strings.Contains(string(out), "without --omit=optional") {
		t.Errorf("without the package of the platform: %v\n%s", err, out)
	}
	m.run(npm, "uninstall", "--global", "--prefix", prefix, "toolpost")
	m.unchanged(before, ".npm")
}

// nodes returns the Node of the live tests, which may be another one than that of the
// system.
func nodes(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(os.Getenv("TOOLPOST_LIVE"), "node-*/node_modules/node/bin/node"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// npmRegistry serves the packages of a folder to npm, at an address on loopback.
func npmRegistry(t *testing.T, dir string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	files := http.FileServer(http.Dir(dir))
	packages := map[string]map[string]any{} // package.json by name
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		p, ok := packages[strings.TrimPrefix(req.URL.Path, "/")]
		if !ok {
			files.ServeHTTP(w, req)
			return
		}
		json.NewEncoder(w).Encode(map[string]any{
			"name": p["name"], "dist-tags": map[string]any{"latest": p["version"]},
			"versions": map[string]any{p["version"].(string): p},
		})
	}))
	t.Cleanup(server.Close)
	for _, path := range paths {
		data := read(t, path)
		var p map[string]any
		if err := json.Unmarshal(untar(t, data)["package/package.json"], &p); err != nil {
			t.Fatal(err)
		}
		sum := sha512.Sum512(data)
		p["dist"] = map[string]any{"tarball": server.URL + "/" + filepath.Base(path), "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
		packages[p["name"].(string)] = p
	}
	return server.URL + "/"
}
