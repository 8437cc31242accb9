package stdtool

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	encodings "golang.org/x/text/encoding/unicode"
)

// trueEncodings are the encodings that files are in. A sample of text is something to
// begin with.
var trueEncodings = []struct {
	name, sample string
	table        encoding.Encoding // nil for UTF-8
	mark         bool
}{
	{"utf-8", "naïve = 表示\n", nil, false},
	{"utf-8", "naïve = 表示\r\n", nil, true},
	{"utf-16le", "naïve = 表示 𝄞\n", encodings.UTF16(encodings.LittleEndian, encodings.IgnoreBOM), false},
	{"utf-16le", "naïve = 表示\r\n", encodings.UTF16(encodings.LittleEndian, encodings.IgnoreBOM), true},
	{"utf-16be", "naïve = 表示 𝄞\n", encodings.UTF16(encodings.BigEndian, encodings.IgnoreBOM), false},
	{"utf-16be", "naïve = 表示\r\n", encodings.UTF16(encodings.BigEndian, encodings.IgnoreBOM), true},
	{"shift_jis", "表示=C:\\data\\ソース\nkey=郎\nY=1\n", japanese.ShiftJIS, false},
	{"euc-jp", "表示=C:\\data\\ソース\n丂侯\n", japanese.EUCJP, false},
	{"gb18030", "变量=C:\\数据\n乗\\ 亅 㐀\n", simplifiedchinese.GB18030, false},
	{"big5", "功能=許\\蓋\n", traditionalchinese.Big5, false},
	{"euc-kr", "변수=값 똠방각하\n", korean.EUCKR, false},
	{"latin-1", "café = naïve\xc2\xa0\n", charmap.ISO8859_1, false},
	{"windows-1251", "ключ = Ёж\n", charmap.Windows1251, false},
	{"windows-1252", "“café” = €5\n", charmap.Windows1252, false},
	{"koi8-r", "ключ = значение\n", charmap.KOI8R, false},
	{"iso-2022-jp", "表示=ソース\n", japanese.ISO2022JP, false},
}

// FuzzEncodings edits files in all encodings. Either the edited file, decoded, is what
// the same edit makes of the decoded file, or the edit is refused.
func FuzzEncodings(f *testing.F) {
	for i, e := range trueEncodings {
		for _, named := range []bool{false, true} {
			f.Add(uint8(i), e.sample, uint8(0), uint8(0), "=", " = ", uint8(1), named)
			f.Add(uint8(i), e.sample, uint8(0), uint8(0), "\\", "/", uint8(1), named)
			f.Add(uint8(i), e.sample, uint8(0), uint8(0), "Y", "Z", uint8(1), named)
			f.Add(uint8(i), e.sample, uint8(1), uint8(3), "", "é日\nЯ", uint8(0), named)
			f.Add(uint8(i), "¥‾～−¢ "+e.sample+"\t\ta b\n", uint8(0), uint8(0), "  a  b", "¥‾～−¢", uint8(0), named)
		}
	}
	f.Add(uint8(6), "\xed\x40\\\xfa\x5c=\n", uint8(0), uint8(0), "=", ":", uint8(8), true)
	f.Add(uint8(6), "\xed\x40\x95\\=\n", uint8(0), uint8(0), "\\", "/", uint8(8), false)
	info, err := os.Stat(".")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, which uint8, text string, from, length uint8, old, new string, flags uint8, named bool) {
		enc := trueEncodings[int(which)%len(trueEncodings)]
		raw := flags&8 != 0
		content, ok := encodeTruly(enc.table, text, enc.mark, raw)
		if !ok || !utf8.ValidString(old) || !utf8.ValidString(new) {
			return
		}
		decoded, ok := decodeTruly(enc.table, content)
		if !ok || (!named || strings.HasPrefix(enc.name, "utf-")) && isElse(enc.name, enc.mark && !raw, content, decoded) {
			return
		}
		if strings.Contains(decoded, "\x00") {
			return // in UTF-8 such a file is binary; in UTF-16 it can be edited
		}
		if again, _ := encodeTruly(enc.table, decoded, false, false); enc.name == "iso-2022-jp" && again != content {
			return // it is not recognized if it cannot be written
		}
		if old == "" {
			runes := []rune(decoded)
			at := min(int(from), len(runes))
			old = string(runes[at:min(at+int(length), len(runes))])
		}
		edits := []replacement{{OldString: old, NewString: new, ReplaceAll: flags&1 != 0}}
		mode := []string{"exact", "line_trimmed", "block_anchor"}[int(flags>>1&3)%3]
		edit := func(content, encoding string) (*revision, error) {
			d := &document{given: "f", info: info, content: []byte(content)}
			return d.revise(t.Context(), encoding, func(text []byte) ([]byte, []string, error) {
				return d.edit(t.Context(), text, mode, edits)
			})
		}
		name := ""
		if named {
			name = enc.name
		}
		got, err := edit(content, name)
		if err != nil {
			return // the file keeps its bytes
		}
		want, err := edit(decoded, "utf-8")
		if err != nil {
			t.Fatalf("%s %q is edited to %q, and as UTF-8 is refused: %v", enc.name, content, got.content, err)
		}
		if after, _ := decodeTruly(enc.table, string(got.content)); after != string(want.content) {
			t.Fatalf("%s %q is edited to %q, which is %q and not %q", enc.name, content, got.content, after, want.content)
		}
	})
}

// encodeTruly returns the bytes of a file with this text, or text itself if it is raw.
func encodeTruly(table encoding.Encoding, text string, mark, raw bool) (string, bool) {
	if raw {
		return text, true
	}
	if mark {
		text = "\ufeff" + text
	}
	if table == nil {
		return text, utf8.ValidString(text)
	}
	content, err := table.NewEncoder().String(text)
	return content, err == nil
}

func decodeTruly(table encoding.Encoding, content string) (string, bool) {
	if table == nil {
		return content, utf8.ValidString(content)
	}
	text, err := table.NewDecoder().String(content)
	return text, err == nil && !strings.ContainsRune(text, utf8.RuneError)
}

// isElse reports whether a file is in another encoding by the rules of package
// encodings: what is UTF-8 or has a byte order mark is that, whoever wrote it.
func isElse(name string, mark bool, content, text string) bool {
	if mark {
		return false
	}
	is16 := strings.HasPrefix(name, "utf-16")
	marked := strings.HasPrefix(content, "\xFF\xFE") || strings.HasPrefix(content, "\xFE\xFF")
	switch {
	case is16:
		odd := func(r rune) bool {
			return !unicode.IsGraphic(r) && !unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) && !unicode.IsSpace(r)
		}
		return marked || strings.ContainsFunc(text, odd) || bytes.IndexByte([]byte(content), 0) < 0
	case name == "iso-2022-jp":
		return !strings.Contains(content, "\x1b$")
	case name == "utf-8":
		return strings.Contains(content, "\x1b$") || strings.Contains(content, "\x00")
	}
	return utf8.ValidString(content) || marked || strings.Contains(content, "\x00")
}
