// Package dialect describes what each client and model accepts as a tool, adapts tools to
// them, and has the rules of the linter. It reports what an adapted tool loses, and
// converts the arguments of calls back to those of the original.
//
//	targets/*.json ── Find, Choose ──▶ Dialect ── Adapt ──▶ tools for that client, losses, withheld tools
//	configuration ─── NewBook ────────────┘    └── Lint ───▶ findings, each of a Rule
//
// A dialect is data: a file in targets, or one that a configuration adds or
// changes. It says which JSON Schema the reader accepts, and which names, descriptions and
// lists.
package dialect

import "slices"

// A Dialect describes what one client or model accepts.
type Dialect struct {
	ID      string   // "openai-strict": the file's name
	Title   string   // "OpenAI, strict function calling"
	About   string   // a description in a few sentences
	Clients []Client // the clients that get this dialect; none for models

	// Defers reports that the client itself keeps the definitions of tools out of
	// the model's context until the model searches for them.
	Defers bool

	form     form
	compiled func() *patterns // nil if it was not read by a Book
}

// Draft returns how the reader wants schemas to be written: "" is JSON Schema 2020-12,
// "draft-07" that draft, "openapi" the Schema type of Gemini.
func (d *Dialect) Draft() string { return d.form.Input.Dialect }

// MaxList returns how many tools the reader accepts, and how many tokens all definitions may
// have, as [Tokens] estimates them; 0 means no limit.
func (d *Dialect) MaxList() (tools, tokens int) { return d.form.List.Tools, d.form.List.Tokens }

// HasStrict reports whether the reader has a strict mode.
func (d *Dialect) HasStrict() bool { return d.form.Strict != nil }

// A Client selects clients by what they report about themselves. All non-empty
// fields must match.
type Client struct {
	Name      string `json:"name,omitempty"`      // regular expression of the name in clientInfo
	UserAgent string `json:"userAgent,omitempty"` // regular expression of the HTTP header
	Since     string `json:"since,omitempty"`     // first version
	Before    string `json:"before,omitempty"`    // first version that is too new
}

// A Source is the evidence for a fact of the dialect.
type Source struct {
	Rules    []string `json:"rules"`              // names of rules, such as "no-union"; none if it is evidence of the reader's identity
	Effect   Effect   `json:"effect,omitempty"`   // what the reader does
	Date     string   `json:"date"`               // 2026-11-21
	How      string   `json:"how"`                // "observed", "read", "documented", "recalled"
	Versions string   `json:"versions,omitempty"` // of the reader
	Source   string   `json:"source"`             // an address, or the command that was run
	Note     string   `json:"note,omitempty"`     // the message or symptom

	// Dialect is the id of the dialect that the source is written in: the one that was
	// asked, or one that it is based on. [Rule.Sources] sets it.
	Dialect string `json:"-"`
}

// An Effect is a reader's reaction to something that it does not accept. From worst to
// mildest:
//
//	loses all tools of the session
//	loses all tools of the server
//	the request is refused
//	the tool is dropped
//	calls of the tool fail
//	a part is silently lost
//	the text is cut
//	the reader rewrites it
//	advice
type Effect string

const (
	killsSession  Effect = "loses all tools of the session"
	killsServer   Effect = "loses all tools of the server"
	refusesCall   Effect = "the request is refused"
	dropsTool     Effect = "the tool is dropped"
	breaksCall    Effect = "calls of the tool fail"
	losesSilently Effect = "a part is silently lost"
	truncates     Effect = "the text is cut"
	rewrites      Effect = "the reader rewrites it"
	advice        Effect = "advice"
)

// Rank returns 0 for the worst effect, and higher numbers for milder ones.
func (e Effect) Rank() int { return slices.Index(severities, e) }

// Refuses reports whether other tools are lost too, or the whole request.
func (e Effect) Refuses() bool { return e.Rank() >= 0 && e.Rank() <= refusesCall.Rank() }

// Loses reports whether the tool works, but the model does not see all of it.
func (e Effect) Loses() bool { return e == losesSilently || e == truncates }

// Advises reports whether nothing is lost.
func (e Effect) Advises() bool { return e == rewrites || e == advice }
