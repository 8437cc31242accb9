package demo

import (
	"path"
	"strings"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/usage"
)

// A fields is a JSON object.
type fields = map[string]any

// A past is what the calls since the first prompt returned.
type past struct {
	results map[string][]*finding // by tool
	used    usage.Tokens          // that a real model would have read and written, about
}

// A finding is a call that has its result.
type finding struct {
	arguments string
	text      string
	failed    bool
}

// next returns what the model says and which calls it makes.
func next(r *model.Request) (string, []model.Part) {
	if len(prompts(r.Messages)) > 1 {
		return "I am a script, and the one task that I know is done. A real model continues from here: set `ANTHROPIC_API_KEY`, `OPENAI_API_KEY` or `GEMINI_API_KEY`, " +
			"then use `/model anthropic/claude-sonnet-5-5`, or start toolpost with `--model`.", nil
	}
	p := remember(r)
	has := func(name string) bool { return r.Tools != nil && r.Tools.Lookup(name) != nil }
	s := &survey{}
	if found := p.results["glob"]; found != nil && !found[0].failed {
		s = look(found[0].text)
	}
	switch {
	case len(r.Messages) == 1 && len(openingCalls(has)) == 0:
		return "I am a script and look through folders, but there are no tools to do it with. Start toolpost without `--tools none`.", nil
	case len(r.Messages) == 1:
		return "I am a **script** in the place of a model, but the tools and this folder are real. I look through the folder first.", openingCalls(has)
	case p.results["read"] == nil && p.results["grep"] == nil && s.files > 0 && (has("read") || has("grep")):
		return s.describe() + " I read the one that describes it best and search all of them.", readingCalls(s, has)
	case p.results["write"] == nil && has("write"):
		return "Now I write down what I found, if you allow it.", writingCalls(s, p, has)
	}
	return answer(s, p), nil
}

// prompts returns the texts that the user wrote.
func prompts(messages []*model.Message) []string {
	var all []string
	for _, m := range messages {
		for _, p := range m.Parts {
			if m.Role == model.RoleUser && p.Type == model.TypeText {
				all = append(all, p.Text)
			}
		}
	}
	return all
}

// remember collects the results of the calls.
func remember(r *model.Request) *past {
	p := &past{results: map[string][]*finding{}}
	calls := map[string]*model.Part{}
	read := estimate(&model.Request{System: r.System, Tools: r.Tools})
	for _, m := range r.Messages {
		for i := range m.Parts {
			part := &m.Parts[i]
			if part.Type == model.TypeCall {
				calls[part.ID] = part
			}
			if part.Result == nil || calls[part.Result.CallID] == nil {
				continue
			}
			c := calls[part.Result.CallID]
			p.results[c.Name] = append(p.results[c.Name], &finding{string(c.Arguments), resultText(part), part.Result.IsError})
		}
		if m.Role == model.RoleAssistant {
			p.used = p.used.Add(usage.Tokens{Input: read, Output: size(m) / bytesPerToken})
		}
		read += size(m) / bytesPerToken
	}
	p.used.Input += read // for the answer
	return p
}

// openingCalls are the first calls.
func openingCalls(has func(string) bool) (calls []model.Part) {
	if has("write_todos") {
		calls = append(calls, todos("in_progress", "pending", "pending"))
	}
	if has("list") {
		calls = append(calls, call("list", fields{}))
	}
	if has("glob") {
		calls = append(calls, call("glob", fields{"pattern": "**/*", "limit": 2000}))
	}
	return calls
}

// todos are the steps of the task with their states.
func todos(states ...string) model.Part {
	var all []fields
	for i, content := range []string{"Look through the folder", "Read and search what is in it", "Write " + Report} {
		all = append(all, fields{"content": content, "status": states[i]})
	}
	return call("write_todos", fields{"todos": all})
}

// readingCalls are the calls that look into the files.
func readingCalls(s *survey, has func(string) bool) (calls []model.Part) {
	if has("write_todos") {
		calls = append(calls, todos("completed", "in_progress", "pending"))
	}
	if file := s.mainFile(); file != "" && has("read") {
		calls = append(calls, call("read", fields{"path": file, "limit": 40}))
	}
	if has("grep") {
		calls = append(calls, call("grep", fields{"pattern": `\b(TODO|FIXME)\b`, "mode": "count"}))
	}
	return calls
}

// writingCalls are the calls that write the report.
func writingCalls(s *survey, p *past, has func(string) bool) (calls []model.Part) {
	if has("write_todos") {
		calls = append(calls, todos("completed", "completed", "in_progress"))
	}
	return append(calls, call("write", struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	}{Report, s.report(p)}))
}

// A survey is what a folder contains.
type survey struct {
	files, folders int
	kinds          map[string]int // files by the ends of their names
	paths          []string
}

// look reads the result of glob.
func look(text string) *survey {
	s := &survey{kinds: map[string]int{}}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || strings.HasPrefix(line, "[") || strings.HasPrefix(line, "No "):
		case strings.HasSuffix(line, "/"):
			s.folders++
		case path.Base(line) == Report: // of an earlier run
		default:
			s.files++
			s.paths = append(s.paths, line)
			kind := strings.ToLower(path.Ext(line))
			if kind == "" || kind == path.Base(line) {
				kind = "others"
			}
			s.kinds[kind]++
		}
	}
	return s
}

// mainFile returns the file that likely describes the folder, "" if there is none.
func (s *survey) mainFile() string {
	best, rank := "", 0
	for _, p := range s.paths {
		name, r := strings.ToLower(path.Base(p)), 0
		switch {
		case strings.HasPrefix(name, "readme"):
			r = 4
		case strings.HasSuffix(name, ".md"):
			r = 3
		case strings.HasSuffix(name, ".txt"), name == "go.mod", name == "package.json", name == "pyproject.toml", name == "cargo.toml":
			r = 2
		case path.Ext(name) == ".go", path.Ext(name) == ".py", path.Ext(name) == ".js", path.Ext(name) == ".ts":
			r = 1
		}
		r = r*100 - strings.Count(p, "/") // the higher the better
		if r >= 50 && r > rank {
			best, rank = p, r
		}
	}
	return best
}
