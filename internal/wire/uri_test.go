package wire

import (
	"strings"
	"testing"
)

// What is wanted is what pydantic's AnyUrl answers.
func TestIsURI(t *testing.T) {
	for _, uri := range []string{
		"x:1", "x:", "x:/", "x://", "x:///a", "x://a%zz/", "x://a:/", "x://a:65535/", "x://u@a:80/", "x://[::1]:1/", "x:a b\x00", "urn:a:b", "mailto:a@b", "x://日本/", " x:1 ", "h\nttp://a/",
		"http:a", "http:///a", `http:\\a`, "http://EXAMPLE.com/%zz", "http://a_b/", "http://a..b/", "http://1.1/", "http://0x7f.1/", "http://[::ffff:1.2.3.4]/", "http://bücher.de/", "http://xn--bcher-kva.de/", "http://u:p@a/", "http://a%41/",
		"file:a", "file:///a b", "file://host/a", "file://c:/a", "file://C|/a", "file://[::1]/a", "FILE:/a", "toolpost-uri:git://repo:main/x",
	} {
		if !IsURI(uri) || ReplaceURI(uri) != uri {
			t.Errorf("%q is refused", uri)
		}
	}
	for _, uri := range []string{
		"", "a", "notes/1", ":a", "1x:a", "x y:a", "//a/b", "git://repo:main/x", "x://a:65536/", "x://:80/", "x://u@/", "x://@a:b/", "x://a b/", "x://a^b/", "x://a|b", `x://a\b`, "x://[::1", "x://[::1]a/", "x://[1]/", "x://[fe80::1%25a]/", "x://a:-1/", "x://a:1_0/",
		"http:", "http://", "http://?a", "http://#a", "http://:80/", "http://u@/", "http://a b/", "http://%/", "http://a%00/", "http://a%2fb/", "http://1.2.3.4.5/", "http://256.1.1.1/", "http://1.0x1ffffffff/", "http://08/", "http://xn--a/", "http://a:b/", "http://[]/",
		"file://a:80/x", "file://a b/c", "file://[::1/a",
	} {
		replaced := ReplaceURI(uri)
		if IsURI(uri) || !IsURI(replaced) || RestoreURI(replaced) != uri {
			t.Errorf("%q is accepted, or becomes %q and that %q", uri, replaced, RestoreURI(replaced))
		}
	}
	for _, uri := range []string{"toolpost-uri:x:1", "toolpost-uri:file:///etc/passwd", "toolpost-uri:a%2", "toolpost-uri:%61", "toolpost-uri:a b"} {
		if got := RestoreURI(uri); got != uri {
			t.Errorf("%q is taken for %q", uri, got)
		}
	}
}

func FuzzReplaceURI(f *testing.F) {
	for _, uri := range []string{"", "notes/1", "/a/../b", "git://repo:main/x", "http://\x00", "x://[::1", "http://1.2.3.4.5/", "http://é%/", "\uFFFD"} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		replaced := ReplaceURI(uri)
		if !IsURI(replaced) || !strings.HasPrefix(uri, replacedScheme) && RestoreURI(replaced) != uri {
			t.Errorf("%q becomes %q, and that %q", uri, replaced, RestoreURI(replaced))
		}
		if replaced != uri && strings.ContainsAny(replaced, " \t\r\n\\?#") {
			t.Errorf("clients change %q", replaced)
		}
	})
}
