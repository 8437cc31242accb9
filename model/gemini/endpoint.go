package gemini

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"

	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// An endpoint is where the requests to a model go: a path of the Gemini API or of Vertex
// AI, below the base URL.
type endpoint struct {
	baseURL, path string
	key           string // an API key; empty if requests have none
}

// newEndpoint returns the endpoint of a model.
func newEndpoint(name string, o *Options) (*endpoint, error) {
	if name == "" || strings.ContainsAny(name, "?&#%\\") || strings.Contains(name, "..") {
		return nil, errors.New(`the name of a model has none of "?", "&", "#", "%", "\" and ".."`)
	}
	e := &endpoint{key: o.APIKey}
	version := "v1beta"
	if o.Project != "" || o.Location != "" {
		location := cmp.Or(o.Location, "global")
		if err := checkPlace(o.Project, location); err != nil {
			return nil, err
		}
		version, name = "v1beta1", vertexResource(name, o.Project, location)
		e.baseURL = cmp.Or(o.BaseURL, os.Getenv("GOOGLE_VERTEX_BASE_URL"), vertexURL(location))
	} else {
		name = resource(name)
		if e.key == "" && o.BaseURL != "" {
			return nil, errors.New("Options.BaseURL names another server, which gets no key of the environment; set Options.APIKey")
		}
		if e.key == "" {
			e.key = cmp.Or(os.Getenv("GOOGLE_API_KEY"), os.Getenv("GEMINI_API_KEY"))
		}
		if e.key == "" {
			return nil, errors.New("there is no API key; set GOOGLE_API_KEY, GEMINI_API_KEY or Options.APIKey, or the project and location of Vertex AI")
		}
		e.baseURL = cmp.Or(o.BaseURL, os.Getenv("GOOGLE_GEMINI_BASE_URL"), "https://generativelanguage.googleapis.com")
	}
	e.path = version + "/" + escapePath(name) + ":streamGenerateContent?alt=sse"
	return e, nil
}

// resource returns the name of a model of the Gemini API.
func resource(name string) string {
	if strings.HasPrefix(name, "models/") || strings.HasPrefix(name, "tunedModels/") {
		return name
	}
	return "models/" + name
}

// vertexResource returns the name of a model of Vertex AI. A name with a slash, such as
// "meta/llama-4", begins with its publisher.
func vertexResource(name, project, location string) string {
	kind, rest, divided := strings.Cut(name, "/")
	switch {
	case kind == "projects" && divided:
		return name
	case !divided:
		name = "publishers/google/models/" + name
	case kind != "publishers" && kind != "models":
		name = "publishers/" + kind + "/models/" + rest
	}
	return "projects/" + project + "/locations/" + location + "/" + name
}

// The forms of what is a part of Vertex AI's addresses. Old projects have a domain.
var (
	projectForm  = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9.:-]*$`)
	locationForm = lazyregexp.New(`^[a-z0-9-]+$`)
)

// checkPlace checks a project and a location of Vertex AI.
func checkPlace(project, location string) error {
	switch {
	case project == "":
		return errors.New("Options.Location is set without Options.Project; Vertex AI needs the project")
	case !projectForm.MatchString(project) || strings.Contains(project, ".."):
		return fmt.Errorf("Options.Project is %.100q, which is not the ID or the number of a project", project)
	case !locationForm.MatchString(location):
		return fmt.Errorf("Options.Location is %.100q, which is not a location such as europe-west4 or global", location)
	}
	return nil
}

// vertexURL returns the address of Vertex AI in a location.
func vertexURL(location string) string {
	switch location {
	case "global":
		return "https://aiplatform.googleapis.com"
	case "us", "eu": // several regions
		return "https://aiplatform." + location + ".rep.googleapis.com"
	}
	return "https://" + location + "-aiplatform.googleapis.com"
}

// escapePath escapes the segments of a path.
func escapePath(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return strings.Join(segments, "/")
}
