package upstream

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/toolpost/toolpost/internal/hidden"
)

// Limits of what is believed of the header.
const (
	maxInstances    = 64
	longestInstance = 64
)

// errSelf means that a server is this Toolpost itself.
var errSelf = errors.New("this is toolpost itself, directly or through another gateway; remove it from the configuration")

// instances are the Toolposts that one server consists of.
type instances struct {
	own  string // "" if this is none
	seen atomic.Pointer[[]string]
}

// check notes the instances behind an answer. It fails if we are one of them.
func (i *instances) check(h http.Header) error {
	behind := h.Get(hidden.InstanceHeader)
	if behind == "" {
		return nil
	}
	found := strings.Fields(behind)
	if i.own != "" && slices.Contains(found, i.own) {
		i.seen.Store(nil)
		return errSelf
	}
	found = slices.DeleteFunc(found, func(id string) bool { return len(id) > longestInstance })
	if found = found[:min(len(found), maxInstances)]; len(found) > 0 {
		i.seen.Store(&found)
	}
	return nil
}

// Instances returns the Toolposts behind the server, by the header Toolpost-Instance of its responses.
func (u *Upstream) Instances() []string {
	if found := u.dial.instances.seen.Load(); found != nil && u.Status().State == Ready {
		return *found
	}
	return nil
}
