package upstream

import "testing"

// TestMissingPackage: what a package runner writes about a package that is not there becomes
// one line, which is the same at every start.
func TestMissingPackage(t *testing.T) {
	for _, tt := range []struct{ stderr, want string }{
		{"npm error code E404\nnpm error 404 Not Found - GET https://registry.npmjs.org/nope-xyz\nnpm error 404\nnpm error 404  The requested resource 'nope-xyz@*' could not be found or you do not have permission to access it.\nnpm error 404\nnpm error A complete log of this run can be found in: /root/.npm/_logs/1.log",
			`npx ended: its registry has no package "nope-xyz", or does not give it to you; check the name`},
		{"npm ERR! code E404\nnpm ERR! 404 Not Found - GET https://registry.npmjs.org/@a%2fb - Not found\nnpm ERR! 404 \nnpm ERR! 404  '@a/b@latest' is not in this registry.",
			`npx ended: its registry has no package "@a/b", or does not give it to you; check the name`},
		{"npm error code ETARGET\nnpm error notarget No matching version found for memory@99.0.0.\nnpm error notarget In most cases",
			`npx ended: its registry has no version "memory@99.0.0"; check the version`},
		{"  × No solution found when resolving tool dependencies:\n  ╰─▶ Because nope-xyz was not found in the package registry and you require nope-xyz, we can conclude",
			`npx ended: its index has no package "nope-xyz"; check the name`},
		{"  ╰─▶ Because there is no version of mcp-server-time==99 and you require mcp-server-time==99, we",
			`npx ended: its index has no version "mcp-server-time==99"; check the version`},
		{"Error: 404 Not Found", "npx ended (exit status 1); its stderr ends with:\nError: 404 Not Found"},
	} {
		if got := advice(&exitError{"npx", "exit status 1", tt.stderr}); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
