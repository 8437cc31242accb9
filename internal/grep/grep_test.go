package grep_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/toolpost/toolpost/internal/grep"
)

// split is the definition of lines that the package documents.
func split(data string) []string {
	lines := strings.Split(data, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return lines
}

// standard returns the numbers of the lines that package regexp finds.
func standard(t testing.TB, pattern string, o *grep.Options, data string) []int64 {
	t.Helper()
	if o == nil {
		o = &grep.Options{}
	}
	if o.Literal {
		pattern = regexp.QuoteMeta(pattern)
	}
	if o.Word {
		pattern = `\b(?:` + pattern + `)\b`
	}
	if o.IgnoreCase {
		pattern = `(?i)` + pattern
	}
	re := regexp.MustCompile(pattern)
	var numbers []int64
	for i, line := range split(data) {
		if re.MatchString(line) {
			numbers = append(numbers, int64(i+1))
		}
	}
	return numbers
}

var all = &grep.Limits{Matches: 1 << 30, Bytes: 1 << 30}

// compare searches data in every way, and compares with package regexp.
func compare(t testing.TB, pattern string, o *grep.Options, data string) {
	t.Helper()
	p, err := grep.Compile(pattern, o)
	if err != nil {
		t.Fatalf("Compile(%q): %v", pattern, err)
	}
	want := standard(t, pattern, o, data)
	ctx := t.Context()
	in := bytes.NewReader([]byte(data))
	searches := []struct {
		name string
		run  func() (*grep.Result, error)
	}{
		{"Bytes", func() (*grep.Result, error) { return p.Bytes(ctx, []byte(data), all) }},
		{"File", func() (*grep.Result, error) { return p.File(ctx, in, in.Size(), all) }},
		{"Reader", func() (*grep.Result, error) {
			return p.Reader(ctx, iotest.HalfReader(iotest.DataErrReader(strings.NewReader(data))), all)
		}},
	}
	for _, s := range searches {
		got, err := s.run()
		if err != nil {
			t.Fatalf("%s(%q): %v", s.name, pattern, err)
		}
		numbers := numbers(got)
		if !slices.Equal(numbers, want) || got.Matches != int64(len(want)) || got.Cut != "" || got.Read != int64(len(data)) {
			t.Fatalf("%s of %q (%+v) in %s: lines %v, %d matches, cut %q, %d bytes read; want lines %v",
				s.name, pattern, o, short(data), numbers, got.Matches, got.Cut, got.Read, want)
		}
	}
	for i, line := range split(data) {
		if i < 20 && !strings.HasSuffix(line, "\r") && p.Match([]byte(line)) != slices.Contains(want, int64(i+1)) {
			t.Fatalf("Match of %q with %q is wrong", pattern, line)
		}
	}
}

func short(data string) string {
	if len(data) > 2000 {
		return fmt.Sprintf("%d bytes", len(data))
	}
	return fmt.Sprintf("%q", data)
}

func numbers(r *grep.Result) []int64 {
	var n []int64
	for _, l := range r.Lines {
		if l.Match {
			n = append(n, l.Number)
		}
	}
	return n
}

func TestPatterns(t *testing.T) {
	patterns := []string{
		``, `^`, `$`, `^$`, `a*`, `(a|b)*`, `^a*$`, `.`, `^.$`, `..`, `[^a]`, `^[^a]*$`,
		`a`, `b$`, `^b`, `\r`, `a\r`, `\r$`, `^\r$`, `.$`, `\s$`, `\s`, `b\s*$`, `\rb`, `^\r`,
		`(?m)^b$`, `(?s).b`, `(?s)^.*$`, `\Ab`, `b\z`, `\bb`, `b\b`, `\B`, `\b`, `^\B$`, `\Bb\B`, `\b\b`, `a\bb`,
		`(?i)s`, `(?i)k`, `(?i)ſ`, `(?i)task`, `(?i)é`, `(?i)[^k]k`, `(?i)kelvin`, `(?i)straße`, `(?i:a)b`,
		`é`, `[é-ü]`, `日本`, `日.語`, `[^日]`, `^[^x]+$`, `\x{FFFD}`, `[\x{FFFD}]b`, `\pL`, `\PL`, `\p{Greek}`, `😀`, `[😀-😎]`, `.日`,
		`foo|bar|foobar`, `foo|bar$`, `(foo|^bar)x?`, `(?:a{3}){2}`, `a{2,3}b`, `(ab+c)+d`, `x*y*z*`, `(a?){10}a{10}`,
		`\x00`, `a\x00b`, `[\x00-\x1f]`, `a.*b.*c`, `(a|b)*a(a|b){8}$`, `[a-z]+\d+`, `foo.*ar`, `b.*foo`,
	}
	texts := []string{
		"", "\n", "\n\n", "\r\n", "\r", "a", "b", "a\n", "a\r\n", "a\r", "ab\r\r\n", "\r\r", "a\rb\n", "\rb\r\nb", "\n\na",
		"b\nb\r\nab\nba", "foo\nbar\nfoobar\nxbar\n", "Task\ntaſk\ntaK\nKELVIN\nKelvin\nstraſſe STRASSE straße\n",
		"é\nÉ\nü\nae\u0301\n", "日本語\n日x語\n本\n", "\xff\n\xc3\n\xc3\xa9\n\xe6\x97\n\xe6\x97b\n\xf0\x9f\x98\x80\n\xf0\x9f\x98\n\xed\xa0\x80\n\xe0\x80b\n\xf4\x90\x80\x80\xfe",
		"\xe6\r\n\xe6\r\xe6\n\xc3", "\ufffd\n\ufffdb\nα\n", "a\x00b\n\x00\n", "aaaaaaaaaaaaaaaaaaaa\naaaa\nabaaabbb\nabcabcd abbcd", "a b\nab_c d\n b \n",
		"ſ\nK\n", "aKk", "a\n\nb", "x\n" + strings.Repeat("y", 100) + "\nfoo and bar",
	}
	for _, pattern := range patterns {
		for _, text := range texts {
			compare(t, pattern, nil, text)
		}
	}
}

func TestOptions(t *testing.T) {
	texts := "a.b\naxb\nA.B\n a.b \nxa.bx\nTask K\ntaſk\n\n(\n^$\n\ufffd\n\xff\na\r\n\r\r\nfoo foobar\nfoo-bar\r\nbar_foo\n"
	for _, pattern := range []string{"a.b", "task", "k", "(", "", "^$", "foo", "-", "é", "\ufffd", "a\r", "\r", "foo bar", "x*"} {
		for i := range 8 {
			o := &grep.Options{Literal: i&1 > 0, IgnoreCase: i&2 > 0, Word: i&4 > 0}
			if pattern == "(" && !o.Literal {
				continue
			}
			compare(t, pattern, o, texts)
			compare(t, pattern, o, strings.Repeat(texts, 600)+"foo")
		}
	}
}

// A generator makes patterns and texts that have much to do with each other.
type generator struct{ *rand.Rand }

var atoms = []string{
	`a`, `b`, `c`, `ab`, `abc`, `K`, `s`, `é`, `日`, `ſ`, `.`, `[ab]`, `[^a]`, `[^\n]`, `[a-c]`, `[é-日]`, `[^日]`, `\w`, `\W`, `\s`, `\S`, `\d`, `\pL`,
	`\r`, `\x00`, `\x{FFFD}`, `^`, `$`, `\b`, `\B`, `(?m:^)`, `(?m:$)`, `\A`, `\z`, `(?s:.)`, ``, `😀`, `bb`, `K`,
}

func (g generator) pattern(depth int) string {
	if depth == 0 || g.IntN(5) == 0 {
		return atoms[g.IntN(len(atoms))]
	}
	one := func() string { return g.pattern(depth - 1) }
	switch g.IntN(9) {
	case 0, 1, 2:
		return one() + one()
	case 3:
		return one() + one() + one()
	case 4:
		return `(?:` + one() + `|` + one() + `)`
	case 5:
		return `(` + one() + `)` + []string{`*`, `+`, `?`, `*?`, `{2}`, `{1,3}`, `{0,2}`, `{2,}`}[g.IntN(8)]
	case 6:
		return `(?i:` + one() + `)`
	case 7:
		return `(?:` + one() + `)`
	}
	return one() + `.*` + one()
}

func (g generator) text(parts int) string {
	var b strings.Builder
	for range g.IntN(parts) {
		b.WriteString(pieces[g.IntN(len(pieces))])
	}
	return b.String()
}

var pieces = []string{
	"a", "b", "c", "ab", "abc", "A", "B", "K", "k", "s", "S", "ſ", "K", "é", "É", "日", "😀", " ", "_", "1", "\t", "\r", "\x00",
	"\n", "\n", "\n", "\r\n", "\r\n", "\xff", "\xc3", "\xe6", "\xe6\x97", "\xf0\x9f", "\x80", "\ufffd", "\xed\xa0\x80", "bb", "x",
}

func TestRandomPatterns(t *testing.T) {
	cases, texts := 0, 6
	for seed := uint64(0); cases < 24_000/share; seed++ {
		g := generator{rand.New(rand.NewPCG(seed, 5))}
		pattern := g.pattern(3)
		o := &grep.Options{IgnoreCase: g.IntN(4) == 0, Word: g.IntN(8) == 0}
		if _, err := regexp.Compile(pattern); err != nil {
			continue
		}
		var data strings.Builder
		for range texts {
			data.WriteString(g.text(30))
			data.WriteByte('\n')
			cases++
		}
		data.WriteString(g.text(10))
		compare(t, pattern, o, data.String())
	}
}

// TestLanes searches blocks that are large enough for several lanes, with
// lines of all sizes.
func TestLanes(t *testing.T) {
	for seed := range uint64(20 / share) {
		g := generator{rand.New(rand.NewPCG(seed, 6))}
		pattern := g.pattern(2)
		if _, err := regexp.Compile(pattern); err != nil {
			continue
		}
		var data strings.Builder
		for data.Len() < 400_000 {
			data.WriteString(g.text([]int{3, 30, 30, 500}[g.IntN(4)]))
			data.WriteByte('\n')
		}
		if g.IntN(2) == 0 {
			data.WriteString(g.text(10))
		}
		compare(t, pattern, nil, data.String())
	}
}

func FuzzPattern(f *testing.F) {
	f.Add(`(?i)k.*\bs$`, "K s\r\n", false, false)
	f.Add(`a.b`, "a.b", true, true)
	f.Fuzz(func(t *testing.T, pattern, data string, literal, fold bool) {
		o := &grep.Options{Literal: literal, IgnoreCase: fold}
		expr := pattern
		if literal {
			expr = regexp.QuoteMeta(pattern)
		}
		_, err := regexp.Compile(expr)
		_, mine := grep.Compile(pattern, o)
		if err != nil {
			if mine == nil {
				t.Fatalf("Compile(%q) has no error; want %v", pattern, err)
			}
			return
		}
		if mine != nil {
			if !strings.Contains(mine.Error(), "line break") && !strings.Contains(mine.Error(), "too large") {
				t.Fatalf("Compile(%q): %v", pattern, mine)
			}
			return
		}
		compare(t, pattern, o, data)
	})
}

func TestManyStates(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 1))
	data := make([]byte, 200_000/share)
	for i := range data {
		data[i] = "abababababababababababababababab\n"[g.IntN(33)]
	}
	compare(t, `(a|b)*a(a|b){14}a$`, nil, string(data))
	compare(t, `^[ab]*a[ab]{11}bb$`, nil, string(data))
}
