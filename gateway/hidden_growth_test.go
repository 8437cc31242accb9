package gateway

import (
	"fmt"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
)

// A server that lists other tools each time does not make the gateway grow.
func TestHiddenIsBounded(t *testing.T) {
	m := newMember(config.Server{}, "s", newLink(nil))
	for i := range 100 {
		tools := []*toolpost.Tool{{Definition: toolpost.Definition{Name: fmt.Sprint("tool ", i)}}, {Definition: toolpost.Definition{Name: "same\u200b"}}}
		m.forgetHidden(tools)
		for _, tool := range tools {
			if i == 0 || tool == tools[0] { // the other one is known
				m.cleanDefinition(tool)
			}
		}
	}
	if len(m.hidden) > 3 || len(m.suspicions) > 3 || !m.hidden["same\u200b"] {
		t.Errorf("remembered: %d, the tool that stays: %v", len(m.hidden), m.hidden["same\u200b"])
	}
}
