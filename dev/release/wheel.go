package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"
)

// wheelPlatforms has the tags of wheels for the platforms. The programs for Linux are
// static, so they run with every libc and the oldest tags are right. macOS 12 is the
// oldest that Go's programs run on.
var wheelPlatforms = map[string][]string{
	"linux/amd64":   {"manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"},
	"linux/arm64":   {"manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"},
	"darwin/amd64":  {"macosx_12_0_x86_64"},
	"darwin/arm64":  {"macosx_12_0_arm64"},
	"windows/amd64": {"win_amd64"},
	"windows/arm64": {"win_arm64"},
}

// pythonVersion returns the version as Python writes it: 1.2.3rc1 for v1.2.3-rc.1.
func (r *release) pythonVersion() string {
	return strings.NewReplacer("-alpha.", "a", "-beta.", "b", "-rc.", "rc").Replace(r.number())
}

// writeWheels writes a Python package for each platform. It has no Python: the program
// is a script of the package, so pip, pipx and uv put it into the folder of programs.
func writeWheels(r *release) error {
	texts, err := r.texts()
	if err != nil {
		return err
	}
	licenceText, readme := texts[0].data, texts[1].data
	name := "toolpost-" + r.pythonVersion()
	for _, p := range r.programs {
		platforms := wheelPlatforms[p.goos+"/"+p.goarch]
		files := []file{
			{name + ".data/scripts/" + p.name(), 0o755, p.data},
			{name + ".dist-info/licenses/LICENSE", 0o644, licenceText},
			{name + ".dist-info/METADATA", 0o644, r.wheelMetadata(readme)},
			{name + ".dist-info/WHEEL", 0o644, wheelTags(platforms)},
		}
		record := name + ".dist-info/RECORD"
		data, err := zipFiles(append(files, file{record, 0o644, wheelRecord(files, record)}), r.time)
		if err != nil {
			return err
		}
		if err := r.put("pypi/"+name+"-py3-none-"+strings.Join(platforms, ".")+".whl", data); err != nil {
			return err
		}
	}
	return nil
}

// wheelMetadata describes the package. The description names the servers of the MCP
// registry that the package contains, because the registry asks for it.
func (r *release) wheelMetadata(readme []byte) []byte {
	var b bytes.Buffer
	for _, line := range [][2]string{
		{"Metadata-Version", "2.4"},
		{"Name", "toolpost"},
		{"Version", r.pythonVersion()},
		{"Summary", summary},
		{"License-Expression", licence},
		{"License-File", "LICENSE"},
		{"Project-URL", "Homepage, " + homepage},
		{"Project-URL", "Changelog, " + homepage + "/blob/main/CHANGELOG.md"},
		{"Requires-Python", ">=3.8"},
		{"Description-Content-Type", "text/markdown; charset=UTF-8; variant=GFM"},
	} {
		fmt.Fprintf(&b, "%s: %s\n", line[0], line[1])
	}
	fmt.Fprintf(&b, "\n%s", readme)
	for _, s := range registryServers {
		fmt.Fprintf(&b, "\n<!-- mcp-name: %s -->\n", registryName(s.id))
	}
	return b.Bytes()
}

func wheelTags(platforms []string) []byte {
	text := "Wheel-Version: 1.0\nGenerator: toolpost\nRoot-Is-Purelib: false\n"
	for _, platform := range platforms {
		text += "Tag: py3-none-" + platform + "\n"
	}
	return []byte(text)
}

// wheelRecord lists the files of a wheel with their checksums; it has none of itself.
func wheelRecord(files []file, self string) []byte {
	var b bytes.Buffer
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&b, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	fmt.Fprintf(&b, "%s,,\n", self)
	return b.Bytes()
}
