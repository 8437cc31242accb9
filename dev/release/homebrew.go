package main

import (
	"bytes"
	"text/template"
)

// formula is what Homebrew reads. It installs the program of the archive, and has the
// program write the completion of shells.
var formula = template.Must(template.New("formula").Parse(`class Toolpost < Formula
  desc "{{.Summary}}"
  homepage "{{.Homepage}}"
  version "{{.Version}}"
  license "{{.License}}"
{{range .Systems}}
  on_{{.Name}} do
{{- range .CPUs}}
    on_{{.Name}} do
      url "{{.URL}}"
      sha256 "{{.Digest}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install "toolpost"
    man1.install Dir["man/*.1"]
    generate_completions_from_executable(bin/"toolpost", "completion", shells: [:bash, :zsh, :fish])
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/toolpost version")
  end
end
`))

// writeHomebrew writes the formula for Homebrew, on macOS and Linux.
func writeHomebrew(r *release) error {
	type cpu struct{ Name, URL, Digest string }
	type system struct {
		Name string
		CPUs []cpu
	}
	var systems []system
	for _, s := range [][2]string{{"macos", "darwin"}, {"linux", "linux"}} {
		of := system{Name: s[0]}
		for _, p := range r.programs {
			if p.goos != s[1] {
				continue
			}
			url, digest, err := r.download(p)
			if err != nil {
				return err
			}
			of.CPUs = append(of.CPUs, cpu{map[string]string{"amd64": "intel", "arm64": "arm"}[p.goarch], url, digest})
		}
		systems = append(systems, of)
	}
	var b bytes.Buffer
	err := formula.Execute(&b, map[string]any{"Summary": summary, "Homepage": homepage, "Version": r.number(), "License": licence, "Systems": systems})
	if err != nil {
		return err
	}
	return r.put("homebrew/toolpost.rb", b.Bytes())
}
