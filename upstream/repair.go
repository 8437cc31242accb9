package upstream

import (
	"bytes"
	"cmp"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/longjson"
)

// repair replaces bytes of the message that are not UTF-8, and halves of surrogate
// pairs, since clients that decode strictly would end their session.
func (b *body) repair() {
	valid := &body{limits: b.limits, keeps: b.keeps}
	w := transform.NewWriter(valid, transform.Chain(runes.ReplaceIllFormed(), halves{}))
	err := b.spool.Copy(w, longjson.Span{To: b.size})
	if err = cmp.Or(err, w.Close()); err != nil {
		b.giveUp(nil)
		return
	}
	b.drop()
	*b = *valid
}

// halves is a transformer that replaces halves of surrogate pairs in JSON.
type halves struct{ transform.NopResetter }

// longestEscape is the length of a surrogate pair.
const longestEscape = len(`\ud800\udc00`)

// Transform implements [transform.Transformer].
func (halves) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		part := src[nSrc:]
		next := bytes.IndexByte(part, '\\')
		switch {
		case next < 0:
			next = len(part)
		case next > 0:
		case len(part) < longestEscape && !atEOF:
			return nDst, nSrc, transform.ErrShortSrc
		default:
			next = min(jsontree.EscapeLen(part), len(part))
		}
		n := copy(dst[nDst:], part[:next])
		if part[0] == '\\' {
			if n < next {
				return nDst, nSrc, transform.ErrShortDst
			}
			jsontree.ReplaceHalves(dst[nDst : nDst+n])
		}
		if nDst, nSrc = nDst+n, nSrc+n; n < next {
			return nDst, nSrc, transform.ErrShortDst
		}
	}
	return nDst, nSrc, nil
}
