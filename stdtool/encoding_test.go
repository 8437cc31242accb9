package stdtool_test

import (
	"os"
	"strings"
	"testing"

	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/unicode"

	"github.com/toolpost/toolpost/stdtool"
)

func shiftJIS(t testing.TB, text string) string {
	t.Helper()
	content, err := japanese.ShiftJIS.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestEditEncodings edits files that are not UTF-8. Where after is empty, the file stays
// as it is.
func TestEditEncodings(t *testing.T) {
	sjis := shiftJIS(t, "表示=C:\\data\\ソース\nkey=郎\nY=1\n")
	wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String("a = é\r\nb = 1\r\n")
	if err != nil {
		t.Fatal(err)
	}
	stray := "\x81\x98\n“quoted”\nb = 1\n\x8d\xff\n" // of all that is tried, only latin-1 has all these bytes
	for _, tt := range []struct{ name, before, tool, arguments, after, tell string }{
		{"second byte of a character", sjis, "edit", `"old_string":"Y","new_string":"Z","replace_all":true`, "", "encoding"},
		{"backslash in a character", sjis, "edit", `"old_string":"\\","new_string":"/","replace_all":true`, "", "shift_jis"},
		{"only in a character", shiftJIS(t, "表\n"), "edit", `"old_string":"\\","new_string":"/"`, "", "encoding"},
		{"several edits", sjis, "multi_edit", `"edits":[{"old_string":"key=","new_string":"KEY="},{"old_string":"\\","new_string":"/","replace_all":true}]`, "", "encoding"},
		{"ASCII", sjis, "edit", `"old_string":"Y=1","new_string":"Y=2"`, strings.Replace(sjis, "Y=1", "Y=2", 1), "at line 3"},
		{"named", sjis, "edit", `"encoding":"cp932","old_string":"Y","new_string":"Z","replace_all":true`, strings.Replace(sjis, "\nY", "\nZ", 1), "1 replaced"},
		{"named, its characters", sjis, "edit", `"encoding":"Shift_JIS","old_string":"郎","new_string":"花子"`, strings.Replace(sjis, shiftJIS(t, "郎"), shiftJIS(t, "花子"), 1), "+key=花子"},
		{"named, several edits", sjis, "multi_edit", `"encoding":"sjis","edits":[{"old_string":"\\","new_string":"/","replace_all":true}]`, shiftJIS(t, "表示=C:/data/ソース\nkey=郎\nY=1\n"), "2 replaced"},
		{"another one's characters", sjis, "edit", `"encoding":"shift_jis","old_string":"郎","new_string":"é"`, "", `no character "é" (U+00E9)`},
		{"a character that becomes another", sjis, "edit", `"encoding":"shift_jis","old_string":"郎","new_string":"¥"`, "", "no character"},
		{"wrong name", sjis, "edit", `"encoding":"euc-kr","old_string":"Y=1","new_string":"Y=2"`, "", "cannot be changed as euc-kr"},
		{"only latin-1, ASCII", stray, "edit", `"old_string":"b = 1","new_string":"b = 2"`, strings.Replace(stray, "b = 1", "b = 2", 1), "at line 3"},
		{"only latin-1, other text", stray, "edit", `"old_string":"b = 1","new_string":"b = é"`, "", "may be latin-1"},
		{"only latin-1, its text", stray, "edit", `"old_string":"“quoted”","new_string":"x"`, "", "or utf-8"},
		{"only latin-1, dry run", stray, "edit", `"old_string":"b = 1","new_string":"b = é","dry_run":true`, "", "or utf-8"},
		{"UTF-8 with another byte", stray, "edit", `"encoding":"utf-8","old_string":"“quoted”","new_string":"„é“"`, strings.Replace(stray, "“quoted”", "„é“", 1), "„é“\n"},
		{"UTF-8 with another byte, several edits", stray, "multi_edit", `"encoding":"UTF-8","edits":[{"old_string":"b","new_string":"ß"}]`, strings.Replace(stray, "b", "ß", 1), "at line 3"},
		{"Shift_JIS, named UTF-8", "a \x83\x5c b\n", "edit", `"encoding":"utf-8","old_string":"\\ b","new_string":"c"`, "", "not UTF-8"},
		{"binary", "a\x00\x01b\xff", "edit", `"old_string":"a","new_string":"c"`, "", "binary file"},
		{"binary, named", "a\x00\x01b\xff", "edit", `"encoding":"latin-1","old_string":"a","new_string":"c"`, "", "binary file"},
		{"binary, as UTF-8", "a\x00\x01b\xff", "edit", `"encoding":"utf-8","old_string":"a","new_string":"c"`, "", "binary file"},
		{"UTF-16, named UTF-8", wide, "edit", `"encoding":"utf-8","old_string":"é","new_string":"日"`, strings.Replace(wide, "\xe9\x00", "\xe5\x65", 1), "at line 1"},
		{"UTF-16, named without an order", "\xfe\xff\x00a", "edit", `"encoding":"utf-16","old_string":"a","new_string":"b"`, "\xfe\xff\x00b", "at line 1"},
		{"UTF-8 with a mark, named UTF-16", "\ufeffa", "edit", `"encoding":"utf-16","old_string":"a","new_string":"b"`, "\ufeffb", "at line 1"},
		{"UTF-8, named another one", "é = 1\n", "edit", `"encoding":"latin-1","old_string":"1","new_string":"é"`, "", "is in utf-8, not in latin-1"},
		{"UTF-16, named another one", wide, "multi_edit", `"encoding":"shift_jis","edits":[{"old_string":"a","new_string":"b"}]`, "", "is in utf-16le, not in shift_jis"},
		{"ISO-2022-JP, named another one", "\x1b$B$\"\x1b(B = 1\n", "edit", `"encoding":"shift_jis","old_string":"1","new_string":"あ"`, "", "is in iso-2022-jp, not in shift_jis"},
		{"ASCII, named another one", "a = 1\n", "edit", `"encoding":"latin-1","old_string":"1","new_string":"é"`, "a = \xe9\n", "at line 1"},
		{"ISO-2022-JP", "\x1b$B$\"\x1b(B = 1\n", "edit", `"old_string":"1","new_string":"あ"`, "\x1b$B$\"\x1b(B = \x1b$B$\"\x1b(B\n", "at line 1"},
		{"no ISO-2022-JP that can be written", "\x1b$B\x1b(Ba = 1\nb = 1\n", "edit", `"old_string":"b = 1","new_string":"b = 2"`, "\x1b$B\x1b(Ba = 1\nb = 2\n", "at line 2"},
		{"no ISO-2022-JP that can be written, its line", "\x1b$B\x1b(Ba = 1\n", "edit", `"old_string":"1","new_string":"2"`, "", "not UTF-8"},
		{"unknown name", sjis, "edit", `"encoding":"klingon","old_string":"Y=1","new_string":"Y=2"`, "", "no encoding"},
		{"text without a name", sjis, "edit", `"old_string":"Y=1","new_string":"Y=é"`, "", "give the right one as encoding"},
		{"forms of Windows", "\xfb\xfc\xfa\xb1=1\n", "edit", `"encoding":"shift_jis","old_string":"髙﨑=1","new_string":"髙﨑=2\n髙"`, "\xfb\xfc\xfa\xb1=2\n\xfb\xfc\n", "at line 1"},
		{"forms of Windows, ASCII", "\xfb\xfc\xfa\xb1=1\n", "edit", `"old_string":"1","new_string":"2"`, "\xfb\xfc\xfa\xb1=2\n", "at line 1"},
		{"two forms", "\xed\x40\xfa\x5c=1\n", "edit", `"encoding":"shift_jis","old_string":"1","new_string":"2"`, "", "two forms"},
		{"two forms, ASCII", "\xed\x40\xfa\x5c\x95\\=1\n", "edit", `"old_string":"\\","new_string":"/","replace_all":true`, "", "encoding"},
		{"latin-1", "caf\xe9 = 1\n", "edit", `"encoding":"latin1","old_string":"café","new_string":"thé"`, "th\xe9 = 1\n", "+thé"},
		{"not latin-1", "caf\xe9 = 1\n", "edit", `"encoding":"latin1","old_string":"café","new_string":"€"`, "", "no character"},
		{"windows-1252", "caf\xe9 = 1\n", "edit", `"encoding":"cp1252","old_string":"café","new_string":"€"`, "\x80 = 1\n", "at line 1"},
		{"UTF-16", wide, "edit", `"old_string":"é\nb","new_string":"日\nb"`, strings.Replace(wide, "\xe9\x00", "\xe5\x65", 1), "line ends differ"},
		{"UTF-16 without a mark", wide[2:], "edit", `"old_string":"é","new_string":"日"`, strings.Replace(wide[2:], "\xe9\x00", "\xe5\x65", 1), "at line 1"},
		{"UTF-16 in either order", "a\x00b\x00", "edit", `"old_string":"a","new_string":"c"`, "", "utf-16le, utf-16be"},
		{"UTF-16 in the named order", "a\x00b\x00", "edit", `"encoding":"utf-16le","old_string":"a","new_string":"c"`, "c\x00b\x00", "at line 1"},

		{"write ASCII", sjis, "write", `"content":"x\n"`, "x\n", "wrote 2 bytes\n"},
		{"write other text", sjis, "write", `"content":"表\n"`, "", "give the right one as encoding"},
		{"write, named", sjis, "write", `"content":"表\n","encoding":"shift_jis"`, shiftJIS(t, "表\n"), "encoded as shift_jis"},
		{"write what it has not", sjis, "write", `"content":"é\n","encoding":"shift_jis"`, "", "no character"},
		{"write over only latin-1", stray, "write", `"content":"é\n"`, "", "or utf-8, which converts the file"},
		{"write ASCII over only latin-1", stray, "write", `"content":"e\n"`, "e\n", "wrote 2 bytes"},
		{"write converts only latin-1", stray, "write", `"content":"é\n","encoding":"utf-8"`, "é\n", "wrote 3 bytes"},
		{"write converts UTF-8", "é\n", "write", `"content":"é\n","encoding":"latin-1"`, "\xe9\n", "encoded as latin-1"},
		{"write keeps the order", "\xfe\xff\x00a", "write", `"content":"b","encoding":"utf-16"`, "\xfe\xff\x00b", "encoded as utf-16be"},
		{"write over no ISO-2022-JP", "\x1b$B\x1b(Ba\n", "write", `"content":"é\n"`, "é\n", "wrote"},
		{"write converts", sjis, "write", `"content":"表é\n","encoding":"utf-8"`, "表é\n", "wrote"},
		{"write UTF-16", wide, "write", `"content":"x\ny"`, "\xff\xfex\x00\r\x00\n\x00y\x00", "kept the byte order mark, kept line ends CRLF, encoded as utf-16le"},
		{"write converts UTF-16", wide, "write", `"content":"x\ny","encoding":"utf-8"`, "x\r\ny", "kept line ends CRLF"},
		{"write to UTF-16", "a\n", "write", `"content":"x\n","encoding":"utf-16"`, "\xff\xfex\x00\n\x00", "encoded as utf-16le"},
		{"write CRLF", "a\r\nb\r\n", "write", `"content":"x\ny\n"`, "x\r\ny\r\n", "kept line ends CRLF"},
		{"write over mixed ends", "a\r\nb\n", "write", `"content":"x\ny\n"`, "x\ny\n", "wrote 4 bytes\n"},
		{"write own ends", "a\nb\n", "write", `"content":"x\r\ny\n"`, "x\r\ny\n", "wrote"},
		{"write keeps a mark", "\ufeffa\n", "write", `"content":"x\n"`, "\ufeffx\n", "kept the byte order mark"},
		{"write with a mark", "\ufeffa\n", "write", `"content":"\ufeffx\n"`, "\ufeffx\n", "wrote 5 bytes\n"},
		{"write over binary", "\x00\x01\x02", "write", `"content":"é"`, "é", "wrote 2 bytes\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "f.txt", []byte(tt.before))
			text := call(t, workspace(t, dir), tt.tool, `{"path":"f.txt",`+tt.arguments+`}`)
			if tt.after == "" {
				tt.after = tt.before
			}
			if got := content(t, dir, "f.txt"); got != tt.after || !strings.Contains(text, tt.tell) {
				t.Errorf("the file is %q, want %q; it said %s, want %s", got, tt.after, text, tt.tell)
			}
			if strings.HasPrefix(text, "error") != (tt.after == tt.before) {
				t.Error(text)
			}
		})
	}
}

// TestReadEncodings reads and searches files that are not UTF-8.
func TestReadEncodings(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "sjis.txt", []byte(shiftJIS(t, "名前=\n表示=ソース\n")))
	wide, err := unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder().String(strings.Repeat("naïve 𝄞\r\n", 30_000))
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "wide.txt", []byte(wide))
	write(t, dir, "bare.txt", []byte(wide[2:40]))
	write(t, dir, "forms.txt", []byte("\xed\x40\xfa\x5c=1\n"))
	write(t, dir, "either.txt", []byte("a\x00b\x00"))
	write(t, dir, "long.txt", []byte(strings.Repeat("a\n", 200_000)+"é日\n"))
	write(t, dir, "long-sjis.txt", []byte(strings.Repeat(shiftJIS(t, "名\n"), 100_000)+shiftJIS(t, "表示=ソース\n")))
	write(t, dir, "binary", []byte("a\x00\x01b\xff"))
	write(t, dir, "mark.cs", []byte("\ufeffusing x;\n"))
	write(t, dir, "large.cs", []byte("\ufeffusing y;\n"+strings.Repeat("a\n", 200_000)))
	set := workspace(t, dir)
	for _, tt := range [][4]string{
		{"read", `{"path":"sjis.txt"}`, "not UTF-8", "shift_jis, gb18030"},
		{"read", `{"path":"sjis.txt","encoding":"shift_jis"}`, "    2  表示=ソース\n", "decoded from shift_jis"},
		{"read", `{"path":"wide.txt","encoding":"utf-8","limit":1}`, "    1  ", "decoded from utf-16be"},
		{"read", `{"path":"wide.txt","encoding":"utf-16","limit":1}`, "naïve 𝄞\n", "decoded from utf-16be"},
		{"read", `{"path":"wide.txt","encoding":"cp932","limit":1}`, "naïve 𝄞\n", "decoded from utf-16be"},
		{"read", `{"path":"mark.cs","encoding":"utf-16"}`, "using x;\n", ""},
		{"read", `{"path":"binary","encoding":"latin-1"}`, "error", "binary file"},
		{"read", `{"path":"binary","encoding":"utf-8"}`, "error", "binary file"},
		{"read", `{"path":"sjis.txt","encoding":"klingon"}`, "error", "no encoding"},
		{"read", `{"path":"wide.txt","offset":1999}`, " 2000  naïve 𝄞\n", "decoded from utf-16be"},
		{"read", `{"path":"bare.txt"}`, "    1  ", "decoded from utf-16be"},
		{"grep", `{"pattern":"ソース","path":"sjis.txt"}`, "not UTF-8", "give encoding"},
		{"grep", `{"pattern":"^表.*ス$","encoding":"cp932"}`, "sjis.txt:2: 表示=ソース\n", ""},
		{"grep", `{"pattern":"ⅰ|纊","path":"forms.txt","encoding":"cp932"}`, "forms.txt:1: ", "=1"},
		{"grep", `{"pattern":"^ab$","path":"either.txt","encoding":"utf-16le"}`, "either.txt:1: ab", ""},
		{"grep", `{"pattern":"a","path":"binary","encoding":"utf-16le"}`, "no match", "skipped"},
		{"grep", `{"pattern":"^é日$","path":"long.txt","encoding":"cp932"}`, "long.txt:200001: é日\n", ""},
		{"grep", `{"pattern":"^表.*ス$","path":"long-sjis.txt","encoding":"cp932"}`, "long-sjis.txt:100001: 表示=ソース\n", ""},
		{"grep", `{"pattern":"=","path":"sjis.txt"}`, "sjis.txt:1: ", "not UTF-8"},
		{"grep", `{"pattern":"naïve 𝄞$","glob":"*.txt","mode":"count"}`, "wide.txt: 30000\n", "bare.txt: "},
		{"grep", `{"pattern":"^using"}`, "large.cs:1: using y;\n", "mark.cs:1: using x;\n"},
	} {
		if text := call(t, set, tt[0], tt[1]); !strings.Contains(text, tt[2]) || !strings.Contains(text, tt[3]) {
			t.Errorf("%s %s: %.500s", tt[0], tt[1], text)
		}
	}
	if text := call(t, set, "grep", `{"pattern":"using"}`); strings.Contains(text, "not UTF-8") {
		t.Error(text)
	}
}

// TestReadExistingEncodings reads files for a person.
func TestReadExistingEncodings(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for before, want := range map[string]string{
		"\xfe\xff\x00a":       "\ufeffa",
		"\x81\x98“é“\x8d\xff": "\x81\x98“é“\x8d\xff",
		"\x1b$B$\"\x1b(B":     "あ",
		"\x1b$B\x1b(Ba":       "\x1b$B\x1b(Ba",
		"a\x00\x01\xff":       "a\x00\x01\xff",
	} {
		write(t, dir, "f.txt", []byte(before))
		if got, err := stdtool.NewWorkspace(root).ReadExisting("f.txt"); string(got) != want || err != nil {
			t.Errorf("%q is read as %q, %v", before, got, err)
		}
	}
}
