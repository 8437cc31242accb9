package cleartext

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// blank are characters that Go calls printable and that show nothing.
var blank = []rune{'\u034f', '\u115f', '\u1160', '\u17b4', '\u17b5', '\u2800', '\u3164', '\uffa0'}

// maxSpaces in a row are shown as they are; more could push text off the screen.
const maxSpaces = 3

// Escape returns text with an escape, as in Go, in the place of each character
// that people would not see. It is for people who decide about the text.
func Escape(text string) string {
	var b strings.Builder
	for spaces := 0; text != ""; {
		r, size := utf8.DecodeRuneInString(text)
		spaces++
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case r == ' ' && spaces > maxSpaces:
			b.WriteString(`\x20`)
		case !strconv.IsPrint(r), slices.Contains(blank, r), unicode.Is(unicode.Variation_Selector, r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteRune(r)
		}
		if r != ' ' {
			spaces = 0
		}
		text = text[size:]
	}
	return b.String()
}
