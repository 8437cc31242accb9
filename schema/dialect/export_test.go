package dialect

// What tests make dialects of.
type (
	Form   = form
	Output = outputForm
	Name   = nameLimits
	Text   = textLimits
	List   = listLimits
	Strict = strictLimits
)

// DefaultServer is the name of a server without a name.
const DefaultServer = defaultServer

// Make returns a dialect of that id.
func Make(id string, f Form) *Dialect { return newDialect(id, f) }

// Form returns what the dialect was made of, to be changed.
func (d *Dialect) Form() *Form { return &d.form }

// The effects.
const (
	KillsSession  = killsSession
	KillsServer   = killsServer
	RefusesCall   = refusesCall
	DropsTool     = dropsTool
	BreaksCall    = breaksCall
	LosesSilently = losesSilently
	Truncates     = truncates
	Rewrites      = rewrites
	Advice        = advice
)
