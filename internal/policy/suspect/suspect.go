// Package suspect finds texts in the definitions of tools that look like attacks on
// the model that reads them, and names that look like those of other tools.
//
// It only warns: what a text means to a model cannot be decided by patterns.
package suspect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// A Finding is a text of a definition that looks like an attack.
type Finding struct {
	Pointer string // JSON pointer of the text in the definition
	What    string // such as "it wants something hidden from the user"
	Text    string // the words that look so, at most a few
}

// String describes the finding, with every character of foreign text visible.
func (f Finding) String() string {
	return fmt.Sprintf("%s: %s (%s)", cleartext.Escape(f.Pointer), f.What, cleartext.Escape(fmt.Sprintf("%q", f.Text)))
}

// Limits of one definition.
const (
	maxLevels   = 256
	maxTexts    = 1 << 18 // bytes
	maxFound    = 5
	longestText = 80
	longestKey  = 61
	maxKeys     = 100
)

// Expressions for texts in lower case and with single spaces.
var (
	ignoresOthers    = lazyregexp.New(`\b(ignore|disregard|forget|override|bypass) (all |any |the |your |every |of )*(previous|prior|above|earlier|preceding|other|system|safety) (instruction|prompt|rule|message|direction|guideline|restriction)`)
	hidesFromUser    = lazyregexp.New(`\b(do not|don't|never|without|avoid) (ever )?(te[l]l|inform|mention|reveal|notify|alert|disclos|warn)\w*( \w+){0,4}? users?\b`)
	speaksAsSystem   = lazyregexp.New(`< ?/?(important|system|secret|instructions?|hidden|admin|critical|sys)\b[^<>]{0,40}>|\[/?(system|inst)\]|\b(new|updated|your) system prompt\b`)
	wantsToBeFirst   = lazyregexp.New(`\b(before|prior to|instead of) (using |calling |invoking |running |you (use|call|run) )?(any|all|every|each) (\w+ )?tools?\b|\bbefore (using|calling|invoking|running) (\w+ )?other tools?\b|\bwhen(ever)? (the )?(tool )?\S+ (tool )?is (called|used|invoked|available), (you )?must\b`)
	namesSecretFiles = lazyregexp.New(`(~|\$home|\$\{home\}|/root|/home/\w+|/users/\w+)/\.(ssh|aws|gnupg|kube|docker|netrc|npmrc|pypirc|cursor|claude|config/gcloud|git-credentials)\b|\bid_(rsa|ed25519|ecdsa)\b|/etc/(passwd|shadow)\b|\.(cursor|claude)/mcp\.json`)
	passesSecretsOn  = lazyregexp.New(`\b(pass|send|forward|upload|include|append|put|copy|bcc) (\w+ ){0,6}?(conversation|chat history|system prompt|private keys?|passwords|api keys|credentials|environment variables)\b( \w+){0,4}? (to|as|in|into|with)\b`)
)

// A sign is a pattern of attacks. The patterns are slow, so each is used only if the
// text has one of its hints.
type sign struct {
	what    string
	hints   []string
	pattern *lazyregexp.Regexp
}

func signs() []sign {
	return []sign{
		{"it wants other instructions to be ignored", []string{"ignore", "disregard", "forget", "override", "bypass"}, ignoresOthers},
		{"it wants something hidden from the user", []string{" user"}, hidesFromUser},
		{"it looks like a message of the system", []string{"<", "system]", "inst]", "system prompt"}, speaksAsSystem},
		{"it wants to be read or called before other tools", []string{"before ", "prior to ", "instead of ", " must"}, wantsToBeFirst},
		{"it names files with secrets", []string{"/.", "id_rsa", "id_ed25519", "id_ecdsa", "/etc/", "/mcp.json"}, namesSecretFiles},
		{"it wants secrets or the conversation to be passed on", []string{"conversation", "chat history", "system prompt", "private key", "passwords", "api keys", "credentials", "environment variables"}, passesSecretsOn},
	}
}

// find returns the words of a text that match, "" if none do.
func (s *sign) find(text string) string {
	if !slices.ContainsFunc(s.hints, func(hint string) bool { return strings.Contains(text, hint) }) {
		return ""
	}
	return s.pattern.FindString(text)
}

// Definition returns what is suspicious in an MCP Tool object: in its name, title,
// descriptions, and the names, enums and defaults of its parameters.
func Definition(raw json.RawMessage) (found []Finding) {
	v, err := jsontree.ParseLenient(raw, maxLevels)
	if err != nil {
		return nil
	}
	left, signs := maxTexts, signs()
	walk(v, "", func(pointer, text string) {
		if left < 0 || len(found) >= maxFound {
			return
		}
		if left -= len(text); left < 0 {
			found = append(found, Finding{pointer, "it is too long to be searched for attacks", jsontree.Clip(text, longestText)})
			return
		}
		text = normal(text)
		for _, s := range signs {
			if words := s.find(text); words != "" && len(found) < maxFound {
				found = append(found, Finding{pointer, s.what, jsontree.Clip(words, longestText)})
			}
		}
	})
	return found
}

// walk calls f with the texts and names in v, but for _meta and icons, which models do
// not read.
func walk(v *jsontree.Value, pointer string, f func(pointer, text string)) {
	if v.Kind == jsontree.KindString {
		f(pointer, v.Text)
	}
	for i, kid := range v.Kids {
		at := fmt.Sprint(i)
		if v.Kind == jsontree.KindObject {
			if at = kid.Name; pointer == "" && (at == "_meta" || at == "icons") {
				continue
			}
			f(pointer, at)
		}
		walk(kid, pointer+"/"+jsontree.EscapePointer(at), f)
	}
}

// typewriter replaces typographic characters with those of keyboards.
var typewriter = sync.OnceValue(func() *strings.Replacer { return strings.NewReplacer("’", "'", "\u00a0", " ") })

var space = lazyregexp.New(`[\s_*` + "`" + `#-]+`)

// normal returns a text as the signs expect it: without hidden characters and marks of
// Markdown, with letters that look like Latin ones as these.
func normal(text string) string {
	text = typewriter().Replace(cleartext.Clean(text))
	kept := strings.ToLower(latin(text))
	flat := space.ReplaceAllStringFunc(kept, func(s string) string {
		if s == "_" || s == "-" {
			return s // of names and paths
		}
		return " "
	})
	return flat
}

// Skeleton returns the same for names that people may take for each other: they differ
// in case, in punctuation, or in letters that look the same.
func Skeleton(name string) string {
	name = strings.ToLower(latin(cleartext.Clean(name)))
	name = strings.Map(func(r rune) rune {
		if !unicode.In(r, unicode.L, unicode.M, unicode.N) {
			return -1
		}
		return r
	}, name)
	return lookalikes().Replace(name)
}

// lookalikes replaces characters with others that look like them.
var lookalikes = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer("0", "o", "1", "l", "i", "l", "5", "s", "rn", "m", "vv", "w")
})

// Letters of other scripts that look like Latin ones, and these: a part of the
// confusables of Unicode (UTS 39) that is enough for whole words.
const (
	foreignLetters = "авеѕіјкмнорстухԁԛԝүһӏАВЕЅІЈКМНОРСТУХԌΑΒΕΖΗΙΚΜΝΟΡΤΥΧαεικνορτυχɑɡıⅼ"
	latinLetters   = "abesijkmhopctyxdqwyhlABESIJKMHOPCTYXGABEZHIKMNOPTYXaeikvoptuxagil"
)

// latin returns text with Latin letters for those that look like them.
func latin(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII }) {
		return text
	}
	from, to := []rune(foreignLetters), []rune(latinLetters)
	return strings.Map(func(r rune) rune {
		switch i := slices.Index(from, r); {
		case i >= 0:
			return to[i]
		case r >= '！' && r <= '～': // full width
			return r - '！' + '!'
		}
		return r
	}, text)
}

// Mentions returns the beginnings of names such as github__create_issue in a
// definition, without the underscores. An expression would try each of the many
// places where a name may begin, which takes seconds for a long definition.
func Mentions(raw json.RawMessage) (keys []string) {
	for at := 0; len(keys) < maxKeys; at += 2 {
		next := bytes.Index(raw[at:], []byte("__"))
		if at += next; next < 0 || at+2 == len(raw) {
			return keys
		}
		key, _, _ := strings.Cut(beforeSeparator(raw[:at]), "__")
		if isLetterOrDigit(raw[at+2]) && key != "" && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// beforeSeparator returns the characters of a name at the end of text.
func beforeSeparator(text []byte) string {
	start := len(text)
	for start > max(0, len(text)-longestKey) && (isLetterOrDigit(text[start-1]) || text[start-1] == '_' || text[start-1] == '-') {
		start--
	}
	return strings.TrimLeft(string(text[start:]), "_-")
}

func isLetterOrDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}
