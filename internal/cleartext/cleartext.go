// Package cleartext removes, marks or escapes the hidden characters of foreign text, and
// what could control a terminal, so that people can trust what they read. Hidden
// characters can hide instructions from people who review what a model reads, and steer
// the direction of writing. It also clips long text and quotes words for a shell.
package cleartext

import (
	"strings"
	"unicode"
)

// Clean returns text without hidden characters: control characters except line
// ends and tabs, direction overrides, zero-width characters, fillers, tags, and
// selectors that select nothing. It keeps those that a script or an emoji needs
// where they stand. Clean text is returned as it is.
func Clean(text string) string {
	c := cleaner{}
	return c.clean(text)
}

// Mark returns text with mark in the place of each hidden character.
func Mark(text string, mark rune) string {
	c := cleaner{mark: mark}
	return c.clean(text)
}

// A cleaner is the state of cleaning one text.
type cleaner struct {
	mark        rune // in the place of hidden characters, 0 for nothing
	runes, kept []rune
	script      int8 // 1 if the text has letters that are written from right to left, -1 if not, 0 if not known yet
}

func (c *cleaner) clean(text string) string {
	if plain(text) {
		return text
	}
	c.runes = []rune(text)
	changed := false
	for i, r := range c.runes {
		switch {
		case !isHidden(r) || c.isNeeded(i):
			c.kept = append(c.kept, r)
			continue
		case c.mark != 0:
			c.kept = append(c.kept, c.mark)
		}
		changed = true
	}
	if !changed {
		return text // also with invalid UTF-8 as it was
	}
	return string(c.kept)
}

// plain reports whether text has only visible ASCII, line feeds and tabs.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

const (
	joinerNot  = 0x200c // ZERO WIDTH NON-JOINER
	joiner     = 0x200d // ZERO WIDTH JOINER
	space      = 0x200b // ZERO WIDTH SPACE
	blackFlag  = 0x1f3f4
	firstTag   = 0xe0000
	lastTag    = 0xe007f
	ideographs = 0xe0100 // the first VARIATION SELECTOR for them
)

// isHidden reports whether r is a character that people do not see.
func isHidden(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.Is(unicode.Variation_Selector, r):
		return true
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false // visible, although a format character
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point) || firstTag <= r && r <= firstTag+0xfff
}

// isNeeded reports whether the hidden character at i belongs to the writing
// around it: to what was kept before it and to what follows.
func (c *cleaner) isNeeded(i int) bool {
	before, after := at(c.kept, len(c.kept)-1), at(c.runes, i+1)
	switch r := c.runes[i]; {
	case r == '\r':
		return after == '\n'
	case r == joiner:
		return joins(before) && joins(after)
	case r == joinerNot:
		return joins(before) && !isHidden(after)
	case r == space:
		return unicode.In(before, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
	case strings.ContainsRune("\u200e\u200f\u061c", r):
		return !isHidden(before) && !isHidden(after) && c.rightToLeft()
	case unicode.Is(unicode.Variation_Selector, r):
		return selects(r, before)
	case firstTag <= r && r <= lastTag:
		return flag(c.runes, i)
	}
	return false
}

// selects reports whether a variation selector can change what is before it.
func selects(selector, before rune) bool {
	if selector >= ideographs {
		return unicode.Is(unicode.Ideographic, before)
	}
	return before > ' ' && !isHidden(before)
}

func at(runes []rune, i int) rune {
	if i < 0 || i >= len(runes) {
		return 0
	}
	return runes[i]
}

// joins reports whether a joiner has an effect beside r: in scripts whose
// letters change with their neighbours, and in emoji.
func joins(r rune) bool {
	switch {
	case unicode.In(r, unicode.So, unicode.Sk) && r > 0x7f, r == 0xfe0f:
		return true
	case r < 0x590 || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Hebrew, unicode.Thai):
		return false
	}
	return unicode.In(r, unicode.Lo, unicode.M)
}

// rightToLeft reports whether the text has letters of such a script.
func (c *cleaner) rightToLeft() bool {
	if c.script == 0 {
		c.script = -1
		for _, r := range c.runes {
			if unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko) && unicode.IsLetter(r) {
				c.script = 1
				break
			}
		}
	}
	return c.script == 1
}

// The tags behind the black flag for England, Scotland and Wales: gbeng, gbsct
// and gbwls, each with the tag that ends it.
const (
	england  = "\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
	scotland = "\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
	wales    = "\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f"
	flagTags = 6
)

// flag reports whether the tag at i belongs to one of these flags.
func flag(runes []rune, i int) bool {
	for start := i - 1; start >= max(0, i-flagTags); start-- {
		if runes[start] == blackFlag {
			tags := string(runes[start+1 : min(len(runes), start+1+flagTags)])
			return tags == england || tags == scotland || tags == wales
		}
	}
	return false
}
