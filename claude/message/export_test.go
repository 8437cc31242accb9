package message

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Kinds returns the types of messages that are known.
func Kinds() []string { return slices.Sorted(maps.Keys(kinds())) }

// BlockKinds returns the types of content blocks that are known.
func BlockKinds() []string { return slices.Sorted(maps.Keys(blockKinds())) }

// Required returns what a type of message cannot be without.
func Required(kind string) []string { return kinds()[kind].required }

// Integer reads a number as accounts are read.
func Integer(v string) (int64, bool) { return integer(jsontext.Value(v)) }

// Float reads a number as accounts are read.
func Float(v string) (float64, bool) { return float(jsontext.Value(v)) }
