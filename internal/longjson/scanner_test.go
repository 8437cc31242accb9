package longjson_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/longjson"
	"github.com/toolpost/toolpost/internal/wire"
)

func scan(r io.Reader) *longjson.Scanner {
	s := new(longjson.Scanner)
	_, _ = io.Copy(struct{ io.Writer }{s}, r) // it never fails
	return s
}

// What a Scanner finds is what the scan of a message in memory finds, however the
// message is cut into pieces.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"a"}],"isError":true,"_meta":{"k":[ ]}}}`,
		`{"result" : { "structuredContent" : -1.50e+3 , "\u0069sError":false}, "id":"7"}` + "\n",
		`{"id":1,"result":{"content":[{"type":"resource","resource":{"text":"x\n\u00e9"}}],"structuredContent":{"a":["b"]}}}`,
		`{"id":1,"id":2,"result":{}}`, `{"id":1,"result":{},"result":{}}`, `{"id":1,"result":{"a":1,"a":2}}`, `{"id":1,"error":{},"result":{}}`, `{"id":1,"result":[]}`, `[{"id":1,"result":{}}]`,
		`{"id":1,"result":{"é😀":"é\n😀"}}`, "{\"id\":1,\"result\":{\"a\":\"\xff\"}}", "{\"id\":1,\"result\":{\"a\":\"\xc3\"}}", "{\"id\":1,\"result\":{\"a\":\"\xc3\\n\xa9\"}}", "{\"id\":1,\"result\":{\"a\":\"x\xf0\x9f\x98\"}}",
		`{"id":1,"result":{]}`, `{"id":1,"result":{}`, `{"id":1,"result":{}} 1`, `{"id":1,"result":{"a":[1,]}}`, `{"id":1,"result":{"a":01}}`, `{"id":1,"result":{"a":"\q"}}`, "{\"id\":1,\"result\":{\"a\":\"\n\"}}",
		`{"id":1,"result":{"a":tru}}`, `{"id":1,"result":{"a":"\u00g0"}}`, `{"id":1,,"result":{}}`, `{"id":1 "result":{}}`, `{"id":{},"result":{"a":{"result":{"id":3}}}}`, `{"id":1,"result":{"a":1}]`, "\x00", `{"id":1,"result":{"\ud83d":"\ud83d\ude00\ude00\ud83dx\ud83d\n\ud83d"}}`, `{"id":1,"result":{"a":"\ud83d\ude00\\ud83d"}}`, `{"id":1,"result":{"resource":"resource_link"}}`,
		`{"id":1,"result":{"content":[{"type":"resource_link","uri":"x://\u0061"},{"type":"resource","resource":{"\u0075ri":"x://b","uri":"x://c"}}],"uri":"x://d"}}`,
		`{"id":1,"result":{"contents":[{"uri":"x://a","_meta":{"a":{"b":{"c":{"d":[{"resourceUri":"x://e"}]}}},"ui/resourceUri":"x://f","uri":["x://g"]}}],"structuredContent":{"uri":"x://h","a":{"uri":"x://h"}},"uri":"x://i","text":[{"uri":"x://j"}],"blob":{"a":[{}],"uri":""}}}`,
	} {
		f.Add([]byte(s))
		f.Add([]byte(strings.Replace(s, "{", `{"jsonrpc":"2.0",`, 1)))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		s := scan(bytes.NewReader(raw))
		if slow := scan(iotest.OneByteReader(bytes.NewReader(raw))); slow.Done() != s.Done() || s.Done() && !reflect.DeepEqual(slow, s) {
			t.Fatalf("%.300q is read differently in small pieces: %+v, %+v", raw, slow, s)
		}
		found := wire.Read(raw)
		if !s.Done() {
			if plain(raw, found) {
				t.Fatalf("%.300q is not read", raw)
			}
			return
		}
		whole := bytes.Clone(raw)
		jsontree.ReplaceHalves(whole)
		if broken := !utf8.Valid(raw) || !bytes.Equal(whole, raw); len(found) != 1 || s.Broken != broken || found[0].Method != "" || found[0].Err != nil {
			t.Fatalf("%.300q is not a response, or broken: %v", raw, s.Broken)
		}
		if s.Broken { // what was found has other bytes
			return
		}
		m := &found[0]
		if got := raw[s.Result.From:s.Result.To]; !bytes.Equal(got, m.Result) || !bytes.Equal(s.ID, m.ID) {
			t.Fatalf("%.300q: the result is %q, the id %q", raw, got, s.ID)
		}
		var uris []string
		named := func(uri string) string {
			if len(uri) <= 2<<10 && len(uris) < 1000 {
				uris = append(uris, uri)
				return "renamed"
			}
			return uri
		}
		want := rename(m.Result, "", named)
		spool := longjson.NewSpool("", new(longjson.Buffers))
		if err := spool.Add(raw, int64(len(raw))); err != nil {
			t.Fatal(err)
		}
		o := longjson.NewObject(spool, scan(bytes.NewReader(raw)))
		if o.Rename(func(string) string { return "renamed" }); o.More {
			return
		}
		for range 2 { // the second time, it is in memory
			if got, err := o.Load(); err != nil || !bytes.Equal(compact(got), compact(want)) {
				t.Fatalf("%.300q with %q renamed is %.300q, not %.300q: %v", m.Result, uris, got, want, err)
			}
		}
		i := 0
		for name, value := range wire.Members(m.Result) {
			got := s.Members[i]
			if !bytes.Equal(raw[got.Value:got.To], value) || got.Kind != value[0] || len(name) < 1<<10 && got.Name != name || raw[got.From] != '"' {
				t.Fatalf("%.300q: member %d is %+v", raw, i, got)
			}
			i++
		}
		for _, long := range s.Strings.All {
			if raw[long.From-1] != '"' || raw[long.To] != '"' || !json.Valid(raw[long.From-1:long.To+1]) {
				t.Fatalf("%.300q: %+v is not a string", raw, long)
			}
		}
	})
}

// rename returns a value with other URIs, as [wire.Edit] finds them.
func rename(raw json.RawMessage, name string, f func(string) string) json.RawMessage {
	switch {
	case len(raw) == 0 || slices.Contains(wire.DataMembers, name) && raw[0] != '"':
	case raw[0] == '"' && slices.Contains(wire.URIMembers, name):
		if len(raw) <= 2<<10 {
			return wire.Quote(f(wire.Unquote(raw)))
		}
	case raw[0] == '{':
		return wire.Edit(raw, func(name string, value json.RawMessage) json.RawMessage { return rename(value, name, f) })
	case raw[0] == '[':
		b, between := []byte("["), ""
		for item := range wire.Elements(raw) {
			b, between = append(append(b, between...), rename(item, "", f)...), ","
		}
		return append(b, ']')
	}
	return raw
}

// compact returns JSON without white space.
func compact(raw []byte) []byte {
	var b bytes.Buffer
	_ = json.Compact(&b, raw) // what is not JSON differs from what is
	return b.Bytes()
}

// plain reports whether a message in memory is one that a Scanner should take.
func plain(raw []byte, found []wire.Message) bool {
	if len(found) != 1 || !utf8.Valid(raw) || found[0].Method != "" || found[0].Err != nil || !wire.IsObject(found[0].Result) || found[0].ID == nil || raw[0] != '{' {
		return false
	}
	seen := map[string]bool{}
	for _, object := range [][]byte{raw, found[0].Result} {
		clear(seen)
		for name := range wire.Members(object) {
			if seen[name] || name == "error" || name == "method" || len(raw) > 1000 {
				return false
			}
			seen[name] = true
		}
	}
	return true
}

// Long strings are noted, and whether another text may take their place.
func TestLongStrings(t *testing.T) {
	x := strings.Repeat(`x\"`, 50_000)
	for _, test := range []struct {
		result string
		texts  []bool
	}{
		{`{"content":[{"text":"X"},{"resource":{"text":"X"}}],"structuredContent":{"a":"X"}}`, []bool{true, true, true}},
		{`{"content":[{"data":"X"}],"structuredContent":"X","text":"X","other":{"a":{"text":"X"}}}`, []bool{false, false, false, false}},
		{`{"content":{"a":{"text":"X"}},"resource":[{"text":"X"}]}`, []bool{false, false}},
		{`{"content":[{"resource":[{"text":"X"}],"X":1},["X"]],"structuredContent":{"X":1}}`, []bool{false, false, false, false}},
	} {
		s := scan(strings.NewReader(`{"id":1,"jsonrpc":"2.0","x":"` + x + `","result":` + strings.ReplaceAll(test.result, "X", x) + `}`))
		var texts []bool
		for _, l := range s.Strings.All {
			texts = append(texts, l.Text)
		}
		if !s.Done() || !reflect.DeepEqual(texts, test.texts) {
			t.Errorf("%s: %v", test.result, texts)
		}
	}
}

// A spool holds what was written to it, in buffers and in a file, and leaves
// nothing behind.
func TestSpool(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made when it is needed")
	text := []byte(strings.Repeat("0123456789abcde", 400_000))
	for _, size := range []int{0, 1, 64 << 10, 64<<10 + 1, 2 << 20, 2<<20 + 1, len(text)} {
		for _, folder := range []string{dir, ""} {
			s := longjson.NewSpool(folder, new(longjson.Buffers))
			for rest := text[:size]; len(rest) > 0; {
				n := min(len(rest), 100_001)
				if err := s.Add(rest[:n], 1<<30); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			whole := longjson.Span{To: int64(size)}
			for _, part := range []longjson.Span{whole, {}, {From: int64(size) / 3, To: int64(size)}, {From: int64(size) / 3, To: int64(size) / 2}} {
				var copied bytes.Buffer
				read := make([]byte, part.To-part.From)
				_, err := s.ReadAt(read, part.From)
				if err2 := s.Copy(&copied, part); err != nil || err2 != nil || !bytes.Equal(read, text[part.From:part.To]) || !bytes.Equal(copied.Bytes(), read) {
					t.Errorf("%d bytes in %q: %v, %v, %v", size, folder, part, err, err2)
				}
			}
			s.Close()
			if err := s.Copy(io.Discard, whole); err == nil && size > 0 {
				t.Errorf("%d bytes in %q: read after the end", size, folder)
			}
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// An object that was loaded stays; one that was closed is an error.
func TestObject(t *testing.T) {
	raw := `{"jsonrpc":"2.0","id":1,"result":{ "a":"` + strings.Repeat("x", 100) + `" } }`
	for _, load := range []bool{true, false} {
		spool := longjson.NewSpool("", new(longjson.Buffers))
		if err := spool.Add([]byte(raw), 1<<20); err != nil {
			t.Fatal(err)
		}
		o := longjson.NewObject(spool, scan(strings.NewReader(raw)))
		want := raw[len(`{"jsonrpc":"2.0","id":1,"result":`) : len(raw)-2]
		if load {
			if data, err := o.Load(); err != nil || string(data) != want {
				t.Fatalf("%q, %v", data, err)
			}
		}
		m := o.Member("a")
		if m == nil || o.Member("b") != nil || fmt.Sprint(m.Span, m.Value) != "{2 108} 6" {
			t.Errorf("%+v", m)
		}
		o.Close()
		o.Close()
		data, err := o.Read(longjson.Span{From: m.Value, To: m.To})
		var copied strings.Builder
		err2 := o.Copy(&copied, longjson.Span{To: o.Size()})
		if load != (err == nil) || load != (err2 == nil) || load && (len(data) != 102 || copied.String() != want) {
			t.Errorf("loaded %v: %v, %v, %q", load, err, err2, copied.String())
		}
	}
}

// What a client may refuse in a member with parts is found in pieces of any size, as it
// is found in one piece.
func TestPartsOfContent(t *testing.T) {
	for _, content := range []string{
		`{"type":"text","text":"a","annotations":{"priority":1,"audience":["user"]}}`, `{"type":"text","text":"a","annotations":{"priority":2}}`,
		`{"type":"resource_link","uri":"x:1","name":"n","size":12,"icons":[{"src":"s"}]}`, `{"type":"resource_link","uri":"x:1","name":"n","size":12.5}`,
		`{"type":"resource_link","uri":"x:1","name":"n","size":null}`, `{"type":"text","text":"a","icons":"x"}`, `{"type":"text","text":"a","annotations":[{"a":{}}]}`,
		`{"type":"text","text":"a","annotations":{}},{"type":"text","annotations":{"lastModified":"yesterday"},"text":"a"}`,
	} {
		result := `{"content":[` + content + `]}`
		message := []byte(`{"jsonrpc":"2.0","id":1,"result":` + result + `}`)
		want, _ := wire.Look([]byte(result))
		for cut := range message {
			s := new(longjson.Scanner)
			_, _ = s.Write(message[:cut])
			if _, _ = s.Write(message[cut:]); !s.Done() || s.Odd != want {
				t.Fatalf("%s, cut at %d: odd %v, want %v", content, cut, s.Odd, want)
			}
		}
	}
}
