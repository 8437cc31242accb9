package secret

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// Mark takes the place of a secret in JSON.
const Mark = "[secret]"

var secretMember = lazyregexp.New(`(?i)token$|access[-_]?tokens$|secret|passw|^pwd$|passphrase|^account$|authori[sz]ation|(api|private|access|session|account)[-_]?key|credential|cookie|^(otp|pin|auth|signature|sig)$|connection[-_]?string|session[-_]?id$`)

// textForms are the forms of secrets in a text. The regular expressions are slow, so
// each is used only if the text has one of its hints, in small letters.
var textForms = sync.OnceValue(func() []textForm {
	return []textForm{
		{[]string{"-----begin"}, lazyregexp.New(`-----BEGIN [A-Z ]*PRIVATE KEY( BLOCK)?-----[^-]*`)},
		{[]string{"passw", "secret", `key"`, `token"`}, lazyregexp.New(`(?i)"[\w-]*(passw(or)?d|secret|api[-_]?key|private[-_]?key|access[-_]?token)"\s*:\s*"[^"]*"`)}, // JSON in a text
		{[]string{"='", `="`}, lazyregexp.New(`(?i)\b\w*(passw(or)?d|pwd|secret|token|api_?key)=('[^']*'|"[^"]*")`)},
		{[]string{"passw", "pwd=", "secret=", "token=", "apikey=", "api_key="}, lazyregexp.New(`(?i)\b\w*(passw(or)?d|pwd|secret|token|api_?key)=[^\s"'&;]+`)},
		{[]string{"passw", "secret:", "token:", "key:"}, lazyregexp.New(`(?im)\b[\w-]*(passw(or)?d|passphrase|secret|(access|auth|api)[-_]?token|api[-_]?key|private[-_]?key):[ \t]+(["'][^"'\n]+["']|[^\s"',;]*[0-9!#$%^*+][^\s"',;]*)`)}, // YAML and headers; a word of letters only is prose
		{[]string{"accountkey=", "sharedaccesskey=", "sig=", "signature="}, lazyregexp.New(`(?i)\b((shared)?access|account|sharedaccess)key=[\w+/=-]{8,}|[?&](sig|signature|x-amz-signature|x-goog-signature)=[^\s"'&]{8,}`)},
		{[]string{"://"}, lazyregexp.New(`://[^/\s"@:]*:(\d*[^\d/\s"@][^\s"]*|\d*)@`)}, // up to the last @: a password may have one, and a slash; a port has a slash after it
		{[]string{"authorization"}, lazyregexp.New(`(?i)\bauthorization["']?\s*[:=]\s*["']?(token|apikey|api-key|digest|negotiate)\s+[^\s"']+`)},
		{[]string{"hf_", "npm_", "sg.", "ya29.", "k_live_", "k_test_"}, lazyregexp.New(`\b(hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}|SG\.[\w-]{10,}\.[\w-]{20,}|ya29\.[\w-]{16,}|[srp]k_(live|test)_[A-Za-z0-9]{10,})`)},
		{[]string{"bearer", "basic"}, lazyregexp.New(`(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}`)},
		{[]string{"toolpost_"}, lazyregexp.New(`\btoolpost_[\w-]{40,}`)}, // of our own callers
		{[]string{"sk-"}, lazyregexp.New(`(?i)\bsk-[\w-]{8,}`)},
		{[]string{"eyj"}, lazyregexp.New(`(?i)\beyJ[\w-]{8,}\.[\w.-]+`)},
		{[]string{"github_pat_"}, lazyregexp.New(`(?i)\bgithub_pat_\w{20,}`)},
		{[]string{"gh"}, lazyregexp.New(`(?i)\bgh[a-z]_\w{20,}`)},
		{[]string{"glpat-"}, lazyregexp.New(`(?i)\bglpat-[\w-]{10,}`)},
		{[]string{"xox"}, lazyregexp.New(`(?i)\bxox[a-z]-[\w-]{8,}`)},
		{[]string{"akia", "aiza"}, lazyregexp.New(`(?i)\b(AKIA[0-9A-Z]{12,}|AIza[\w-]{20,})`)},
	}
})

// A textForm is one form of secrets.
type textForm struct {
	hints []string
	form  *lazyregexp.Regexp
}

// RedactText returns a text, such as an address, without parts that look like a
// secret.
func RedactText(text string) string {
	small := strings.ToLower(text)
	for _, f := range textForms() {
		if slices.ContainsFunc(f.hints, func(hint string) bool { return strings.Contains(small, hint) }) {
			text = f.form.ReplaceAllString(text, Mark)
		}
	}
	return text
}

// JSONOptions are the optional parts of [RedactJSON].
type JSONOptions struct {
	Most    int                       // the value is cut off after so many bytes, which makes it invalid JSON; 0 for no limit
	MaxText int                       // bytes of one string; 0 for no limit
	Member  func(pointer string) bool // reports whether a member with this JSON pointer is secret too; may be nil
	Public  func(pointer string) bool // reports whether a member with this JSON pointer is not secret, although it is named like one; may be nil
	Text    func(string) string       // hides further secrets in a string; may be nil
	Known   bool                      // hides what Text and Member find only: a schema has members that are named like a secret
}

// RedactJSON returns a JSON value without the values of members that are named like
// a secret, and without texts that look like one. Hidden is the number of values
// and texts that were hidden. Objects stay objects, and so on. White space is left
// out. It does not find a secret that is spread over several values.
func RedactJSON(raw []byte, opts *JSONOptions) (redacted []byte, hidden int) {
	r := redactor{d: jsontext.NewDecoder(bytes.NewBuffer(raw), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	if opts != nil {
		r.opts = *opts
	}
	r.opts.Most = cmp.Or(r.opts.Most, math.MaxInt)
	r.opts.MaxText = cmp.Or(r.opts.MaxText, math.MaxInt)
	isSecret, err := false, error(nil)
	for err == nil && r.Len() < r.opts.Most {
		isSecret, err = r.next(isSecret)
	}
	return r.Bytes(), r.hidden
}

// A redactor is the state of one RedactJSON.
type redactor struct {
	bytes.Buffer
	d      *jsontext.Decoder
	opts   JSONOptions
	hidden int
}

// next writes the next token, or a mark in its place if it is secret. It
// reports whether the token names a secret.
func (r *redactor) next(isSecret bool) (namesSecret bool, err error) {
	kind, isName, separator := r.d.PeekKind(), r.atName(), r.separator()
	if isSecret {
		if masked := maskOf(kind); masked != "" {
			r.hidden++
			r.WriteString(separator + masked)
			return false, r.d.SkipValue()
		}
	}
	if kind != '"' {
		t, err := r.d.ReadToken()
		if err == nil {
			r.WriteString(separator + t.String())
		}
		return false, err
	}
	v, err := r.d.ReadValue() // no copy, as a token of a long string would be
	if err != nil {
		return false, err
	}
	text := beginning(v, r.opts.MaxText)
	r.WriteString(separator)
	r.text(text)
	return isName && r.isSecret(text), nil
}

// maskOf returns what takes the place of a secret value of a kind, "" for one that reveals
// nothing.
func maskOf(kind jsontext.Kind) string {
	const mark = `"` + Mark + `"`
	switch kind {
	case '"':
		return mark
	case '0':
		return "0"
	case '{':
		return "{" + mark + ":null}"
	case '[':
		return "[" + mark + "]"
	}
	return ""
}

// isSecret reports whether the member that was named last is secret.
func (r *redactor) isSecret(name string) bool {
	if r.opts.Member != nil && r.opts.Member(string(r.d.StackPointer())) {
		return true
	}
	return !r.opts.Known && secretMember.MatchString(name) && (r.opts.Public == nil || !r.opts.Public(string(r.d.StackPointer())))
}

// atName reports whether the next token is the name of a member.
func (r *redactor) atName() bool {
	kind, n := r.d.StackIndex(r.d.StackDepth())
	return kind == '{' && n%2 == 0 && r.d.PeekKind() == '"'
}

// separator returns what JSON has before the next token.
func (r *redactor) separator() string {
	kind, n := r.d.StackIndex(r.d.StackDepth())
	next := r.d.PeekKind()
	switch {
	case kind == '{' && n%2 == 1:
		return ":"
	case n > 0 && (kind == '{' || kind == '[') && next != '}' && next != ']':
		return ","
	}
	return ""
}

// beginning returns more than the first most bytes of a JSON string.
func beginning(v jsontext.Value, most int) string {
	if len(v)/4 <= most { // an escape has up to six bytes
		text, _ := jsontext.AppendUnquote(nil, v) // what is invalid in it is replaced
		return string(text)
	}
	return strings.ToValidUTF8(string(v[1:4*most]), "")
}

// text writes a string without secrets.
func (r *redactor) text(text string) {
	clear := text
	if r.opts.Text != nil {
		clear = r.opts.Text(clear) // first: a form may match only the beginning of a known secret
	}
	if !r.opts.Known {
		clear = RedactText(clear)
	}
	if clear != text {
		r.hidden++
	}
	clear = cleartext.Clip(clear, r.opts.MaxText)
	quoted, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(clear, "\uFFFD"))
	if err != nil {
		quoted = []byte(`"…"`)
	}
	r.Write(quoted)
}
