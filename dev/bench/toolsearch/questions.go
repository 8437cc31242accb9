package main

import (
	_ "embed" // for the questions
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/accept"
)

var (
	//go:embed testdata/tuning.txt
	tuning string
	//go:embed testdata/heldout.txt
	heldOut string
)

// A question is what a user asks, with all tools that answer it.
type question struct {
	text  string
	right []string
}

// questions reads a file with lines such as "which pods are running | kubernetes/kubectl_get".
func questions(file string) (all []question) {
	for line := range strings.Lines(file) {
		text, right, ok := strings.Cut(strings.TrimSpace(line), " | ")
		if !ok {
			continue
		}
		q := question{text: text}
		for _, tool := range strings.Fields(right) {
			server, name, _ := strings.Cut(tool, "/")
			q.right = append(q.right, serverName(server)+"__"+name)
		}
		all = append(all, q)
	}
	return all
}

// serverName is the name under which a user would configure a server of the corpus.
func serverName(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(name, "-ref"), "-yonaka15")
}

// A server is one of the corpus, with its tools under its own names.
type server struct {
	name  string
	tools toolpost.Tools
}

// servers returns the servers of the corpus. Their tools answer with nothing.
func servers() (all []*server, err error) {
	for _, s := range accept.Tools() {
		var d toolpost.Definition
		err := d.UnmarshalJSON(s.Raw)
		if err != nil {
			return nil, fmt.Errorf("%s of %s: %w", s.Name(), s.Server, err)
		}
		name := serverName(s.Server)
		i := slices.IndexFunc(all, func(s *server) bool { return s.name == name })
		if i < 0 {
			i, all = len(all), append(all, &server{name: name})
		}
		t := &toolpost.Tool{Definition: d, Handler: answerNothing}
		t.Policy.SkipValidation = true
		all[i].tools = append(all[i].tools, t)
	}
	return all, nil
}

// joined returns the tools of all servers, as the gateway names them.
func joined(all []*server) (tools []*toolpost.Tool) {
	for _, s := range all {
		for _, t := range s.tools {
			tools = append(tools, t.Rename(s.name+"__"+t.Name))
		}
	}
	return tools
}
