package floors_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const (
	geminiSDK    = "google.golang.org/genai"
	openaiSDK    = "github.com/openai/openai-go"
	anthropicSDK = "github.com/anthropics/anthropic-sdk-go"
	mcpSDK       = "github.com/modelcontextprotocol/go-sdk"
	grpc         = "google.golang.org/grpc" // keeps unused methods in the program
	cobra        = "github.com/spf13/cobra"
)

// TestDependencies checks which of the large libraries a program links that
// imports one of our packages: only those that the package is about.
func TestDependencies(t *testing.T) {
	allowed := map[string][]string{
		"": nil, "/bind": nil, "/config": nil, "/schema/dialect": nil, "/gateway": nil, "/mcpserver": nil, "/upstream": nil,
		"/output": nil, "/redmine": nil, "/stdtool": nil, "/claude": nil, "/model": nil,
		"/model/gemini": nil, "/model/openai": nil, "/model/anthropic": nil,
		"/cmd/toolpost": {cobra},
	}
	list := []string{"list", "-f", "{{.ImportPath}}{{range .Deps}} {{.}}{{end}}"}
	for pkg := range allowed {
		list = append(list, "github.com/toolpost/toolpost"+pkg)
	}
	out, err := exec.Command("go", list...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		links := strings.Fields(line)
		pkg := strings.TrimPrefix(links[0], "github.com/toolpost/toolpost")
		want, asked := allowed[pkg]
		if !asked {
			t.Errorf("package %q is not one of those", pkg)
		}
		delete(allowed, pkg)
		for _, module := range []string{geminiSDK, openaiSDK, anthropicSDK, mcpSDK, grpc, cobra} {
			linked := slices.ContainsFunc(links, func(path string) bool { return strings.HasPrefix(path, module) })
			if linked != slices.Contains(want, module) {
				t.Errorf("package %q links %s: %v", pkg, module, linked)
			}
		}
	}
	if len(allowed) > 0 {
		t.Errorf("go list describes all but %v", allowed)
	}
}

// TestProviderSDKs checks that the module requires no SDK of a provider: those who use only
// this module neither download nor compile one. The module sdk, whose tests compare the
// packages of the providers with them, does.
func TestProviderSDKs(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "all").Output()
	if err != nil {
		t.Fatalf("go list -m all: %v", err)
	}
	for _, sdk := range []string{geminiSDK, openaiSDK, anthropicSDK} {
		if strings.Contains(string(out), sdk) {
			t.Errorf("go.mod requires %s; import it in the module sdk only", sdk)
		}
	}
}
