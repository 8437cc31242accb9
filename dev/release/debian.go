package main

import (
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// completions has the files in which shells look for the completion of a command.
var completions = map[string]string{
	"bash": "usr/share/bash-completion/completions/toolpost",
	"fish": "usr/share/fish/vendor_completions.d/toolpost.fish",
	"zsh":  "usr/share/zsh/vendor-completions/_toolpost",
}

// writeDebian writes a package for Debian and Ubuntu for each architecture. It needs no
// other package and has no scripts.
func writeDebian(r *release) error {
	linux := slices.DeleteFunc(slices.Clone(r.programs), func(p program) bool { return p.goos != "linux" })
	if len(linux) == 0 {
		return nil
	}
	shared, err := r.debianFiles()
	if err != nil {
		return err
	}
	for _, p := range linux {
		data, err := r.debian(p, append([]file{{"usr/bin/toolpost", 0o755, p.data}}, shared...))
		if err != nil {
			return err
		}
		if err := r.put("toolpost_"+r.number()+"_"+p.goarch+".deb", data); err != nil {
			return err
		}
	}
	return nil
}

// debianVersion returns the version as Debian sorts it: before nothing comes a tilde, so
// 1.2.3~rc.1 is older than 1.2.3.
func (r *release) debianVersion() string { return strings.Replace(r.number(), "-", "~", 1) }

// debianFiles returns the files that the packages of all architectures have.
func (r *release) debianFiles() ([]file, error) {
	texts, err := r.texts()
	if err != nil {
		return nil, err
	}
	copyright := "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nSource: " + homepage +
		"\n\nFiles: *\nCopyright: the authors of Toolpost\nLicense: " + licence + "\n The licence is in /usr/share/common-licenses/" + licence + " and in LICENSE.\n"
	files := []file{
		{"usr/share/doc/toolpost/copyright", 0o644, []byte(copyright)},
		{"usr/share/doc/toolpost/LICENSE", 0o644, texts[0].data},
		{"usr/share/doc/toolpost/README.md", 0o644, texts[1].data},
	}
	err = r.withProgram(func(ask func(...string) (string, error)) error {
		for _, shell := range []string{"bash", "fish", "zsh"} {
			script, err := ask("completion", shell)
			if err != nil {
				return err
			}
			files = append(files, file{completions[shell], 0o644, []byte(script)})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	pages, err := r.manual()
	if err != nil {
		return nil, err
	}
	for _, p := range pages {
		var b bytes.Buffer
		w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // a level that there is
		if _, err := w.Write(p.data); err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		files = append(files, file{"usr/share/man/man1/" + path.Base(p.name) + ".gz", 0o644, b.Bytes()})
	}
	return files, nil
}

// debian returns a package: an archive of the format's version, of what describes the
// package and of the files.
func (r *release) debian(p program, files []file) ([]byte, error) {
	size := 0
	var sums bytes.Buffer
	for _, f := range files {
		size += (len(f.data) + 1023) / 1024
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(f.data), f.name)
	}
	control := fmt.Sprintf(`Package: toolpost
Version: %s
Architecture: %s
Maintainer: %s <noreply@github.com>
Installed-Size: %d
Recommends: ca-certificates
Section: utils
Priority: optional
Homepage: %s
Description: %s
 Toolpost joins MCP servers into one endpoint for all clients, and lists and
 calls their tools from the command line.
`, r.debianVersion(), p.goarch, maintainer, size, homepage, summary)
	about, err := tarFiles([]file{{"./control", 0o644, []byte(control)}, {"./md5sums", 0o644, sums.Bytes()}}, r.time)
	if err != nil {
		return nil, err
	}
	data, err := tarFiles(withFolders(files), r.time)
	if err != nil {
		return nil, err
	}
	return arFiles([]file{{"debian-binary", 0o644, []byte("2.0\n")}, {"control.tar.gz", 0o644, about}, {"data.tar.gz", 0o644, data}}, r.time), nil
}

// withFolders returns files, sorted by name, with the folders that they are in.
func withFolders(files []file) []file {
	var all []file
	seen := map[string]bool{}
	for _, f := range files {
		all = append(all, file{"./" + f.name, f.mode, f.data})
		for dir := path.Dir(f.name); !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			name := "./"
			if dir != "." {
				name += dir + "/"
			}
			all = append(all, file{name, os.ModeDir | 0o755, nil})
		}
	}
	slices.SortFunc(all, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return all
}

// arFiles returns an archive in the format of ar.
func arFiles(files []file, modified time.Time) []byte {
	b := bytes.NewBufferString("!<arch>\n")
	for _, f := range files {
		fmt.Fprintf(b, "%-16s%-12d%-6d%-6d%-8o%-10d`\n", f.name, modified.Unix(), 0, 0, 0o100000|f.mode.Perm(), len(f.data))
		b.Write(f.data)
		if len(f.data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}
