// Command release builds what a release publishes, for each platform: the archive
// with the program, its licence and the README, an SBOM, and packages for npm, PyPI
// and the other ways to install a program. The same commit and the same version of
// Go give the same bytes.
//
//	go run ./dev/release -version v1.2.3 -out dist
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
)

const targets = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

func main() {
	version := flag.String("version", "", "the version; the tag of the commit if empty")
	out := flag.String("out", "dist", "the folder that the files are written to; it must not exist or be empty")
	platforms := flag.String("targets", targets, "the platforms, as OS/ARCH,…")
	flag.Parse()
	if err := run(*version, *out, strings.Split(*platforms, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(version, out string, platforms []string) error {
	r := &release{version: version, source: ".", out: out}
	if err := r.prepare(); err != nil {
		return err
	}
	for _, platform := range platforms {
		if err := r.compile(platform); err != nil {
			return fmt.Errorf("build for %s: %w", platform, err)
		}
	}
	return r.write()
}
