//go:build unix

package live

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// Scenarios of the conformance suite that cannot pass through a gateway, by
// their reason.
var (
	// The server's tools ask the client with requests of their own, which
	// 2026-07-28 does not have: the SDK of the server refuses them.
	requestsOfServer = []string{"tools-call-sampling", "tools-call-elicitation", "elicitation-sep1034-defaults", "elicitation-sep1330-enums"}

	// In a session, the server asks with requests. They have no keys, no state
	// of the server, and no capabilities of one call: the server asks for all at once that
	// its session has, and ends the call if the refusal of one comes before the question
	// that the client can answer.
	inputRequests = []string{
		"server-stateless", "input-required-result-basic-elicitation", "input-required-result-capability-check",
		"input-required-result-multiple-input-requests", "input-required-result-multi-round",
	}

	// Over stdio, nothing says which call a request of the server belongs to,
	// and these scenarios leave calls of one client unanswered.
	oneStream = append([]string{
		"input-required-result-basic-sampling", "input-required-result-basic-list-roots", "input-required-result-request-state",
		"input-required-result-non-tool-request", "input-required-result-result-type",
		"input-required-result-tampered-state",
	}, inputRequests...)

	// The stream of a call ends only with its answer: the gateway does not ask
	// the client to poll. The suite does not score it.
	polling = []string{"server-sse-polling"}
)

// TestConformanceForeign runs the suite against a server that is not ours,
// through the gateway: every scenario that passes directly has to pass, in every
// pairing of the eras of client and server.
func TestConformanceForeign(t *testing.T) {
	node(t)
	everything := build(t, "github.com/modelcontextprotocol/go-sdk/conformance/everything-server")
	sessions, stateless := freePort(t), freePort(t)
	start(t, nil, everything, "-http", "127.0.0.1:"+sessions, "-stateless=false").listening(t, sessions)
	start(t, nil, everything, "-http", "127.0.0.1:"+stateless, "-stateless=true").listening(t, stateless)
	atSessions, atStateless := "http://127.0.0.1:"+sessions, "http://127.0.0.1:"+stateless
	directly := map[string][]string{
		"2025-11-25": failedScenarios(t, atSessions, "2025-11-25"),
		"2026-07-28": failedScenarios(t, atStateless, "2026-07-28"),
	}
	for _, tt := range []struct {
		name    string
		server  map[string]any
		allowed map[string][]string // by the version of the client
	}{
		{"HTTP 2025-11-25", map[string]any{"url": atSessions, "protocolVersion": "2025-11-25"}, map[string][]string{"2025-11-25": polling, "2026-07-28": inputRequests}},
		{"HTTP 2026-07-28", map[string]any{"url": atStateless, "protocolVersion": "2026-07-28"}, map[string][]string{"2025-11-25": requestsOfServer}},
		{"stdio, as it is configured by default", map[string]any{"command": everything}, map[string][]string{"2026-07-28": oneStream}},
		{"stdio 2025-11-25", map[string]any{"command": everything, "protocolVersion": "2025-11-25", "share": "per-session"}, map[string][]string{"2026-07-28": oneStream}},
		{"stdio 2026-07-28", map[string]any{"command": everything, "protocolVersion": "2026-07-28", "share": "per-session"}, map[string][]string{"2025-11-25": requestsOfServer}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			address := gatewayOf(t, tt.server)
			for i, version := range []string{"2025-11-25", "2025-11-25", "2026-07-28"} { // the first sessions, and later ones
				t.Run(fmt.Sprint("client ", version, " ", i), func(t *testing.T) {
					for _, scenario := range failedScenarios(t, address+"/mcp", version) {
						if !slices.Contains(directly[version], scenario) && !slices.Contains(tt.allowed[version], scenario) {
							t.Errorf("%s passes directly, but not through the gateway", scenario)
						}
					}
				})
			}
		})
	}
}

var (
	failed = regexp.MustCompile(`(?m)^✗ ([a-z0-9-]+):`)
	passes = regexp.MustCompile(`(?m)^✓ [a-z0-9-]+:`)
)

// failedScenarios returns the scenarios of a version that a server fails.
func failedScenarios(t *testing.T, url, version string) (names []string) {
	t.Helper()
	bin := peer(t, "@modelcontextprotocol/conformance", "0.2", "node_modules/@modelcontextprotocol/conformance/dist/index.js")
	stdout, stderr, _ := run(t, nil, node(t), bin, "server", "--url", url, "--requirements", version) // it fails with the first scenario that does
	if n := len(passes.FindAllString(stdout, -1)); n < 20 {
		t.Fatalf("only %d scenarios passed:\n%s\n%s", n, tail(stdout, 100), tail(stderr, 20))
	}
	for _, m := range failed.FindAllStringSubmatch(stdout, -1) {
		names = append(names, m[1])
	}
	t.Logf("%s: %s fails %q", version, url, names)
	return names
}

// gatewayOf starts a gateway in front of one server whose names stay.
func gatewayOf(t *testing.T, server map[string]any) string {
	t.Helper()
	server["prefix"] = ""
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"everything": server}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "toolpost.json")
	write(t, file, string(config))
	_, address := gateway(t, file)
	s := dial(t, address)
	until(t, "the server answers through the gateway", func() error {
		return try(t, s, call{"test_simple_text", map[string]any{}, "simple text"})
	})
	return address
}
