package mcpserver

import "slices"

// A topic is a list or resource whose changes clients are notified of.
type topic struct {
	method string // of the notification that it has changed
	uri    string // of the resource; "" for lists
}

// Methods of topics.
const (
	toolsChanged     = "notifications/tools/list_changed"
	promptsChanged   = "notifications/prompts/list_changed"
	resourcesChanged = "notifications/resources/list_changed" // also of templates
	resourceUpdated  = "notifications/resources/updated"
	ofExtensions     = "notifications" // those of extensions; all sessions hear of them
)

// sharedTopics are those that all sessions join.
var sharedTopics = [...]topic{{method: toolsChanged}, {method: promptsChanged}, {method: resourcesChanged}, {method: ofExtensions}}

func listTopics() []topic { return sharedTopics[:3] }

// lists are the methods that list, each with the notification that its list has changed.
var lists = [...]struct{ method, changed string }{
	{listTools, toolsChanged}, {listPrompts, promptsChanged}, {listResources, resourcesChanged}, {listTemplates, resourcesChanged},
}

// listNumber returns the place of a method in lists, -1 if it does not list.
func listNumber(method string) int {
	for i := range lists {
		if lists[i].method == method {
			return i
		}
	}
	return -1
}

// topicOf returns the topic of the list that a method returns, the zero topic if it
// does not list.
func topicOf(method string) topic {
	if i := listNumber(method); i >= 0 {
		return topic{method: lists[i].changed}
	}
	return topic{}
}

// topics are what a listener has joined, and whether its client has not heard of a
// change there. The shared ones take no memory of their own: there are thousands of idle
// sessions.
type topics struct {
	shared    [len(sharedTopics)]interest
	resources map[string]interest // by URI
}

// An interest is the state of one topic for a listener.
type interest uint8

const (
	none   interest = iota
	joined          // and the client has heard of all changes
	marked          // joined, and the client has not heard of a change
)

func (s *topics) of(t topic) interest {
	if t.method == resourceUpdated {
		return s.resources[t.uri]
	}
	return s.shared[slices.Index(sharedTopics[:], t)]
}

func (s *topics) set(t topic, to interest) {
	switch {
	case t.method != resourceUpdated:
		s.shared[slices.Index(sharedTopics[:], t)] = to
	case to == none:
		delete(s.resources, t.uri)
	default:
		if s.resources == nil {
			s.resources = map[string]interest{}
		}
		s.resources[t.uri] = to
	}
}
