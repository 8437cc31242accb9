package redmine

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
)

// What is shown of files, in bytes.
const (
	longestFile  = 32 << 20
	longestImage = 700 << 10 // under 1 MiB in base64, which clients take
	usualText    = 50_000
	mostText     = 500_000
)

type downloadInput struct {
	attachmentID
	Offset int64 `json:"offset,omitempty" jsonschema:"minimum=0" desc:"Bytes to skip"`
	Limit  int64 `json:"limit,omitempty" jsonschema:"minimum=1,maximum=500000,default=50000"`
}

// A downloaded is a file with what is in it.
type downloaded struct {
	*attachment
	Offset int64  `json:"offset,omitempty"`
	Next   int64  `json:"next_offset,omitempty"` // if there is more
	Text   string `json:"text,omitempty"`
	Image  string `json:"image,omitempty"` // its media type; it is beside this
}

func downloadAttachment(s *Server) entry {
	return tool(s, "download_attachment", "Read a file", "Read a file: text in parts, images up to 700 KB.", reads,
		func(ctx context.Context, in downloadInput) (*toolpost.Result, error) {
			a, err := in.find(ctx, s)
			if err != nil {
				return nil, err
			}
			if a.Size > longestFile {
				return nil, toolpost.Failed("File %s [%d] has %d bytes; only files of at most %d bytes can be read. The user can open %s.", a.Name, a.ID, a.Size, longestFile, a.URL)
			}
			// Not from content_url: that is the host which Redmine believes to have.
			data, err := s.client.read(ctx, fmt.Sprintf("/attachments/download/%d", a.ID), nil)
			if err != nil {
				return nil, explain(err, fmt.Sprintf("what is in file %s [%d]", a.Name, a.ID))
			}
			if int64(len(data)) != int64(a.Size) {
				return nil, toolpost.Failed("Redmine returned %d bytes for file %s [%d], which should have %d: the file was damaged after its upload. Tell the user.", len(data), a.Name, a.ID, a.Size)
			}
			return shownFile(s, a, data, in.Offset, in.Limit)
		})
}

// shownFile answers with what is in a file. What kind it is its bytes say, and
// not its name.
func shownFile(s *Server, a *attachment, data []byte, offset, limit int64) (*toolpost.Result, error) {
	kind := http.DetectContentType(data)
	image := slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind)
	switch {
	case image && len(data) <= longestImage:
		result, err := s.answer(textOf(a), downloaded{attachment: a, Image: kind})
		if err != nil {
			return nil, err
		}
		parts := append(result.Parts(), toolpost.Part{Type: "image", Data: data, MIMEType: kind})
		return result.WithContent(parts, result.Structured())
	case image:
		return nil, toolpost.Failed("File %s [%d] is an image of %d bytes; only images of at most %d bytes can be shown. The user can open %s.", a.Name, a.ID, len(data), longestImage, a.URL)
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return nil, toolpost.Failed("File %s [%d] is neither text in UTF-8 nor an image: %d bytes of %s. The user can open %s.", a.Name, a.ID, len(data), cmp.Or(a.Type, kind), a.URL)
	case offset > 0 && offset >= int64(len(data)):
		return nil, toolpost.Retry("File %s [%d] has %d bytes: offset %d is past its end. Give a smaller offset.", a.Name, a.ID, len(data), offset)
	}
	from, to := piece(data, offset, min(cmp.Or(limit, usualText), mostText))
	d := downloaded{attachment: a, Offset: from, Text: lf(string(data[from:to]))}
	text := textOf(a)
	if from > 0 || to < int64(a.Size) {
		text += fmt.Sprintf("- shown: bytes %d to %d", from, to)
		if to < int64(a.Size) {
			d.Next = to
			text += fmt.Sprintf("; call again with offset %d for more", to)
		}
		text += "\n"
	}
	return s.answer(text+"\n"+d.Text+"\n", d)
}

// piece is a part of a text, from the begin of a letter to that of another.
func piece(data []byte, offset, limit int64) (from, to int64) {
	back := func(at int64) int64 {
		for at > 0 && at < int64(len(data)) && !utf8.RuneStart(data[at]) {
			at--
		}
		return at
	}
	from, to = back(offset), back(min(offset+limit, int64(len(data))))
	if to <= from {
		to = min(from+utf8.UTFMax, int64(len(data)))
		to = max(back(to), from+1)
	}
	return from, to
}
