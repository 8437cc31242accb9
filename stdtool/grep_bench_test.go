package stdtool_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/stdtool"
)

// BenchmarkGrepTree searches the source of Go; "make bench-search" compares that
// with ripgrep.
func BenchmarkGrepTree(b *testing.B) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Skip(err)
	}
	root, err := os.OpenRoot(filepath.Join(strings.TrimSpace(string(goroot)), "src"))
	if err != nil {
		b.Skip(err)
	}
	defer root.Close()
	set, err := toolpost.NewSet(b.Context(), stdtool.NewWorkspace(root).ReadOnly())
	if err != nil {
		b.Fatal(err)
	}
	for name, arguments := range map[string]string{
		"literal": `{"pattern":"needle_42_xyz"}`,
		"common":  `{"pattern":"func main","mode":"count","max_matches":10000}`,
		"regexp":  `{"pattern":"[A-Z]{4,5} \\[[a-z]+-6\\d\\]"}`,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r, err := set.Call(b.Context(), &toolpost.Call{Name: "grep", Arguments: json.RawMessage(arguments)})
				if err != nil || r.IsError() {
					b.Fatal(r, err)
				}
			}
		})
	}
}
