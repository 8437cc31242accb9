package shape

// Limits on schemas. They are far above what tools need, and keep a hostile
// schema from costing more than a fraction of a second.
const (
	MaxBytes  = 1 << 20
	MaxLevels = 1000 // of objects and arrays
	MaxDepth  = 64   // of subschemas
	MaxNodes  = 10_000
	MaxPaths  = 100_000
	MaxRefs   = 64 // followed from one to the next
)
