//go:build unix

package live

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// A suite is one run of the official conformance tests, and how many checks
// must pass at least: a run that tests nothing is no success. What is expected
// to fail is in a file with the reason; if it passes, the run fails.
type suite struct {
	name, version string
	args          []string
	checks        int
}

var serverSuites = []suite{
	{"0.1 active", "0.1", []string{"--suite", "active"}, 39},
	{"0.2 2025-11-25", "0.2", []string{"--requirements", "2025-11-25"}, 80},
	{"0.2 2026-07-28", "0.2", []string{"--requirements", "2026-07-28"}, 150},
}

var clientSuites = []suite{
	{"0.1 core", "0.1", []string{"--suite", "core"}, 240},
	{"0.2 2025-11-25", "0.2", []string{"--requirements", "2025-11-25"}, 320},
	{"0.2 2026-07-28", "0.2", []string{"--requirements", "2026-07-28"}, 450},
}

// TestConformanceServer tests our server, directly and through the gateway. The
// fixture speaks both eras, and the gateway prefers sessions, so its
// configuration pins 2026-07-28 for the suite of that version.
func TestConformanceServer(t *testing.T) {
	node(t)
	fixture := fixtureServer(t)
	sessions, stateless := fixtureGateway(t, fixture, "2025-11-25"), fixtureGateway(t, fixture, "2026-07-28")
	for _, suite := range serverSuites {
		gateway := sessions
		if slices.Contains(suite.args, "2026-07-28") {
			gateway = stateless
		}
		t.Run("direct "+suite.name, func(t *testing.T) {
			suite.run(t, "", "server", "--url", fixture)
		})
		t.Run("gateway "+suite.name, func(t *testing.T) {
			suite.run(t, "", "server", "--url", gateway+"/mcp")
		})
	}
}

// fixtureGateway starts a gateway that speaks one version with the fixture.
func fixtureGateway(t *testing.T, fixture, version string) string {
	return gatewayOf(t, map[string]any{"type": "http", "url": fixture, "protocolVersion": version})
}

func fixtureServer(t *testing.T) string {
	port := freePort(t)
	start(t, nil, build(t, "dev/conformance/server"), "-http", "127.0.0.1:"+port).listening(t, port)
	return "http://127.0.0.1:" + port + "/mcp"
}

// TestConformanceClient tests the upstream side.
func TestConformanceClient(t *testing.T) {
	node(t)
	client := build(t, "dev/conformance/client")
	for _, suite := range clientSuites {
		t.Run(suite.name, func(t *testing.T) {
			suite.run(t, "client-failures.yml", "client", "--command", client)
		})
	}
}

var passed = regexp.MustCompile(`Total: (\d+) passed.*`)

func (s suite) run(t *testing.T, failures string, args ...string) {
	t.Helper()
	bin := peer(t, "@modelcontextprotocol/conformance", s.version, "node_modules/@modelcontextprotocol/conformance/dist/index.js")
	args = append(append([]string{bin}, args...), s.args...)
	if failures != "" {
		file, err := filepath.Abs(filepath.Join("testdata", failures))
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, "--expected-failures", file)
	}
	stdout, stderr, err := run(t, nil, node(t), args...)
	total := passed.FindStringSubmatch(stdout)
	if err != nil || total == nil {
		t.Fatalf("%v\n%s\n%s", err, tail(stdout, 150), tail(stderr, 20))
	}
	if n, _ := strconv.Atoi(total[1]); n < s.checks {
		t.Errorf("only %d checks passed, want at least %d", n, s.checks)
	}
	t.Log(total[0])
}
