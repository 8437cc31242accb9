package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// An output writes the result of a call.
type output struct {
	to   io.Writer
	tool string // names saved files
	json bool
	safe bool   // control characters are left out: a terminal would obey them
	dir  string // for images, audio and files; "" only describes them
}

func (o *output) write(r *toolpost.Result) error {
	if o.json {
		raw, err := r.MarshalJSON()
		if err != nil {
			return err
		}
		return o.line(string(raw))
	}
	parts := r.Parts()
	if len(parts) == 0 && r.Structured() != nil {
		return o.line(string(r.Structured()))
	}
	for _, p := range parts {
		if err := o.part(p); err != nil {
			return err
		}
	}
	return nil
}

func (o *output) line(s string) error {
	if !strings.HasSuffix(s, "\n") {
		s += "\n"
	}
	if o.safe {
		s = cleartext.Sanitize(s)
	}
	_, err := io.WriteString(o.to, s)
	return err
}

func (o *output) part(p toolpost.Part) error {
	switch p.Type {
	case "text":
		return o.line(p.Text)
	case "image", "audio":
		return o.data(p.Type, p.MIMEType, p.Data)
	case "resource_link":
		return o.line(strings.TrimSpace("[link " + p.URI + "] " + p.Name))
	case "resource":
		return o.resource(p)
	}
	raw, err := p.MarshalJSON()
	if err != nil {
		return err
	}
	return o.line(string(raw))
}

// resource writes an embedded resource (MCP 2026-07-28, EmbeddedResource).
func (o *output) resource(p toolpost.Part) error {
	var block struct {
		Resource struct {
			URI      string `json:"uri"`
			MIMEType string `json:"mimeType"`
			Text     string `json:"text"`
			Blob     []byte `json:"blob"`
		} `json:"resource"`
	}
	if err := json.Unmarshal(p.Raw, &block); err != nil {
		return o.line(string(p.Raw))
	}
	r := block.Resource
	if r.Blob != nil {
		return o.data("resource "+r.URI, r.MIMEType, r.Blob)
	}
	return o.line(r.Text)
}

// data saves data that is not text, or writes its size.
func (o *output) data(what, kind string, data []byte) error {
	if o.dir == "" {
		return o.line(fmt.Sprintf("[%s, %s, %d bytes; save it with --out DIR]", what, kind, len(data)))
	}
	path, err := o.save(extension(kind), data)
	if err != nil {
		return fmt.Errorf("save %s: %w", what, err)
	}
	return o.line(fmt.Sprintf("[%s, %s, saved as %s]", what, kind, path))
}

// save writes data to the first free name: tool-1.png, tool-2.png…
func (o *output) save(ext string, data []byte) (string, error) {
	if err := os.MkdirAll(o.dir, 0o755); err != nil {
		return "", err
	}
	base := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (r == '-' || unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, o.tool)
	for n := 1; ; n++ {
		path := filepath.Join(o.dir, fmt.Sprintf("%s-%d%s", base, n, ext))
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(data)
		return path, errors.Join(err, f.Close())
	}
}

func extension(kind string) string {
	extensions := map[string]string{
		"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp",
		"audio/wav": ".wav", "audio/mpeg": ".mp3", "application/pdf": ".pdf",
	}
	if ext, ok := extensions[kind]; ok {
		return ext
	}
	return ".bin"
}
