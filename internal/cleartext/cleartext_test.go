package cleartext_test

import (
	"testing"
	"unicode/utf8"

	"github.com/toolpost/toolpost/internal/cleartext"
)

// TestKeepsWriting has text whose invisible characters belong to it.
func TestKeepsWriting(t *testing.T) {
	for name, text := range map[string]string{
		"empty":                   "",
		"ASCII":                   "Reads a file.\n\tOne line, then a tab.",
		"Windows lines":           "one\r\ntwo\r\n",
		"accents":                 "Crée un élément – «déjà vu» … 5 €\u00a0HT",
		"Japanese":                "課題を検索します。全角\u3000空白",
		"Japanese name":           "葛\U000e0100飾区",
		"Persian":                 "می\u200cخواهم نامه\u200cای بنویسم",
		"Persian before a stop":   "می\u200c.",
		"Hindi":                   "क\u094d\u200dष और क\u094d\u200cष",
		"Arabic with a mark":      "الإصدار 2.0\u200f (تجريبي)",
		"Arabic number sign":      "\u0600١٢",
		"Hebrew with a mark":      "שלום C++\u200e!",
		"Khmer":                   "ភាសា\u200bខ្មែរ",
		"family":                  "👨\u200d👩\u200d👧\u200d👦",
		"skin":                    "🤷🏽\u200d♀\ufe0f",
		"heart on fire":           "❤\ufe0f\u200d🔥",
		"keycap":                  "1\ufe0f\u20e3",
		"flag of Scotland":        "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f!",
		"private use":             "\ue000",
		"combining":               "e\u0301",
		"invalid UTF-8":           "a\xffb",
		"invalid UTF-8 and ZWNJs": "می\u200cخ\xff",
	} {
		if got := cleartext.Clean(text); got != text {
			t.Errorf("%s: %+q became %+q", name, text, got)
		}
	}
}

func TestRemovesHidden(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"escape", "a\x1b]0;T\x07b\x1b[2J", "a]0;Tb[2J"},
		{"CSI as one character", "a\u009b2Jb", "a2Jb"},
		{"NUL, backspace, delete", "a\x00b\bc\x7f", "abc"},
		{"carriage return alone", "shown\rhidden", "shownhidden"},
		{"carriage returns", "a\r\r\nb", "a\r\nb"},
		{"override", "a\u202eb\u202c", "ab"},
		{"isolates", "a\u2066b\u2069", "ab"},
		{"zero width", "a\u200bb\ufeffc\u2060d\u00ade", "abcde"},
		{"joiners in Latin", "i\u200dg\u200cn", "ign"},
		{"joiners as bits", "م\u200c\u200d\u200cا", "م\u200cا"},
		{"marks as bits", "ש\u200e\u200f\u200eל", "ש\u200eל"},
		{"mark without right to left", "a\u200eb", "ab"},
		{"tags", "a\U000e0069\U000e0067\U000e006eb", "ab"},
		{"tags after a flag", "🏴\U000e0069\U000e0067\U000e007f", "🏴"},
		{"tags after a real flag", "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f\U000e0069", "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"},
		{"selectors as bytes", "😀\U000e0158\U000e0159", "😀"},
		{"selectors in a row", "a\ufe00\ufe01\ufe02", "a\ufe00"},
		{"selectors of an ideograph", "葛\U000e0100\U000e0101", "葛\U000e0100"},
		{"fillers", "a\u3164b\u115fc\uffa0", "abc"},
		{"line separators", "a\u2028b\u2029", "ab"},
		{"invisible plus", "f\u2064x", "fx"},
		{"only hidden", "\u200b\U000e0041", ""},
	} {
		if got := cleartext.Clean(tt.text); got != tt.want {
			t.Errorf("%s: %+q became %+q, want %+q", tt.name, tt.text, got, tt.want)
		}
	}
}

func TestMark(t *testing.T) {
	const text = "a\x1b[2J می\u200cخواهم\u202e\n"
	if got, want := cleartext.Mark(text, '·'), "a·[2J می\u200cخواهم·\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\u200bb\x1b🏴\U000e0067")
	f.Add("می\u200cخواهم")
	f.Fuzz(func(t *testing.T, text string) {
		once := cleartext.Clean(text)
		if len(once) > len(text) && utf8.ValidString(text) {
			t.Errorf("%q grew to %q", text, once)
		}
		if again := cleartext.Clean(once); again != once {
			t.Errorf("%+q became %+q, and then %+q", text, once, again)
		}
	})
}

// Escape shows every character that could hide, and keeps the others.
func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "",
		"Crée 課題 \"x\" \\ {+":            "Crée 課題 \"x\" \\ {+",
		"a\nb\tc\r\x00\x1b[2J\x7f":       `a\nb\tc\r\x00\x1b[2J\x7f`,
		"a\u200bb\u202e\U000e0041\ufe0f": `a\u200bb\u202e\U000e0041\ufe0f`,
		"\u3164\u2800\u00a0":             `\u3164\u2800\u00a0`,
		"a     b":                        `a   \x20\x20b`,
		"a\xffb":                         `a\xffb`,
	} {
		if got := cleartext.Escape(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}
