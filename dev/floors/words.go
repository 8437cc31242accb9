package floors

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
)

// vague names say nothing about what a package is.
var vague = []string{"base", "common", "helper", "helpers", "misc", "shared", "types", "util", "utils"}

// standard holds the last elements of the standard library's import paths
// (Go 1.26): a package named so would have to be renamed at every import.
var standard = strings.Fields(`
adler32 aes ascii85 asn1 ast atomic base32 base64 big binary bits bufio build buildinfo bytes bzip2
cgi cgo cipher cmp cmplx color comment constant constraint context cookiejar coverage crc32 crc64
crypto cryptotest csv debug des doc draw driver dsa dwarf ecdh ecdsa ed25519 elf elliptic embed
encoding errors exec expvar fcgi filepath fips140 flag flate fmt fnv format fs fstest gif gob gosym
gzip hash heap hex hkdf hmac hpke html http httptest httptrace httputil image importer io iotest
ioutil iter jpeg json jsonrpc list log lzw macho mail maphash maps math md5 metrics mime mlkem
mlkemtest multipart net netip os palette parse parser path pbkdf2 pe pem pkix plan9obj plugin png
pprof printer quick quotedprintable race rand rc4 reflect regexp ring rpc rsa runtime scanner sha1
sha256 sha3 sha512 signal slices slog slogtest smtp sort sql strconv strings structs subtle
suffixarray sync synctest syntax syscall syslog tabwriter tar template testing textproto time tls
token trace types tzdata unicode unique unsafe url user utf16 utf8 version weak x509 xml zip zlib`)

var (
	unfinished = regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`)
	failedTo   = regexp.MustCompile("^[\"`](?i:failed) to\\b")
	machine    = regexp.MustCompile(`(^|[^\w.])/(work|root|home|Users)/\w|\b(registry\.npmjs\.org|proxy\.golang\.org)\b`)
)

// Words checks the names of packages, what comments and texts say, and that no function is
// an init.
func Words(files []*File) []Problem {
	var found []Problem
	for path, pkg := range packages(files) {
		name := path[strings.LastIndex(path, "/")+1:]
		if slices.Contains(vague, name) || slices.Contains(standard, name) {
			found = append(found, Problem{path, "package " + name + ": name it after what it is, unlike the standard library"})
		}
		for _, f := range pkg {
			found = append(found, fileWords(f)...)
		}
	}
	return found
}

func fileWords(f *File) []Problem {
	var found []Problem
	for _, group := range f.Syntax.Comments {
		for _, c := range group.List {
			if unfinished.MatchString(c.Text) {
				found = append(found, f.problem(c.Pos(), "a comment announces work to do: do it, or delete the comment"))
			}
		}
	}
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv == nil && n.Name.Name == "init" {
				found = append(found, f.problem(n.Pos(), "function init: do it where it is needed"))
			}
		case *ast.Ident:
			if unfinished.MatchString(n.Name) {
				found = append(found, f.problem(n.Pos(), "%s announces work to do", n.Name))
			}
		case *ast.BasicLit:
			if n.Kind == token.STRING && failedTo.MatchString(n.Value) {
				found = append(found, f.problem(n.Pos(), "a text begins with %q: name the operation", "failed"+" to"))
			}
		}
		return true
	})
	return append(found, Text(f.Path, f.Source)...)
}

// Text checks that a text names no place that exists on one machine only.
func Text(path, text string) []Problem {
	var found []Problem
	for i, line := range strings.Split(text, "\n") {
		if m := machine.FindString(line); m != "" {
			found = append(found, Problem{fmt.Sprintf("%s:%d", path, i+1), "names a place on one machine: " + m})
		}
	}
	return found
}
