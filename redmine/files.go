package redmine

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/toolpost/toolpost"
)

func fileTools(s *Server) []entry {
	return []entry{
		showAttachment(s), downloadAttachment(s), uploadFile(s), updateAttachment(s), deleteAttachment(s), listFiles(s), addFile(s),
	}
}

// filesText lists files as lines.
func filesText(all []attachment) string {
	var b strings.Builder
	for _, a := range all {
		fmt.Fprintf(&b, "- file %s [%d]: %d bytes, %s, by %s\n", a.Name, a.ID, a.Size, a.Type, a.Author.Name)
	}
	return b.String()
}

type attachmentID struct {
	ID string `json:"id" jsonschema:"maxLength=255,description=File id"`
}

func showAttachment(s *Server) entry {
	return tool(s, "show_attachment", "Show a file's details", "Show the name, size, type and author of a file, not what is in it.", reads,
		func(ctx context.Context, in attachmentID) (*toolpost.Result, error) {
			a, err := readAttachment(ctx, s, in.ID)
			if err != nil {
				return nil, err
			}
			return s.answer(a.text(), a)
		})
}

// fileKind is how the facts of files are read, written and compared.
func fileKind() kind[attachment] {
	return kind[attachment]{
		key: "attachment", path: "/attachments", why: "Redmine removes characters that file names cannot contain",
		name: func(a *attachment) string { return fmt.Sprintf("file %s [%d]", a.Name, a.ID) },
		is: func(a *attachment) map[string]any {
			return map[string]any{"filename": a.Name, "content_type": a.Type, "description": lf(a.Description)}
		},
		view: func(a *attachment) view { return a },
	}
}

func readAttachment(ctx context.Context, s *Server, text string) (*attachment, error) {
	n, err := id("a file", text)
	if err != nil {
		return nil, err
	}
	return fileKind().read(ctx, s, n, "")
}

func (a *attachment) text() string {
	text := fmt.Sprintf("# File %s [%d]\n\n- size: %d bytes\n- type: %s\n- author: %s\n- created: %s\n", a.Name, a.ID, a.Size, a.Type, a.Author, a.CreatedOn)
	if a.Description != "" {
		text += "- description: " + a.Description + "\n"
	}
	return text
}

type uploadInput struct {
	Name    string  `json:"filename" jsonschema:"minLength=1,maxLength=255,description=File name with its ending"`
	Content *string `json:"content,omitempty" jsonschema:"maxLength=34000000,description=What is in the file if it is text"`
	Base64  *string `json:"content_base64,omitempty" jsonschema:"maxLength=46000000,description=What is in the file in base64 if it is not text"`
	Type    string  `json:"content_type,omitempty" jsonschema:"maxLength=255,description=Media type such as text/plain. Redmine goes by the name if left out"`
}

func uploadFile(s *Server) entry {
	return tool(s, "upload_file", "Upload a file", "Upload a file, as text or in base64. The answer has a token for one use.\nGive the token to the tool that writes the issue, wiki page, news or project file.", adds,
		func(ctx context.Context, in uploadInput) (*toolpost.Result, error) {
			data, err := in.bytes()
			if err != nil {
				return nil, err
			}
			query := url.Values{"filename": {in.Name}}
			if in.Type != "" {
				query.Set("content_type", in.Type)
			}
			token, err := uploadRaw(ctx, s.client, query, data)
			if err != nil {
				return nil, explain(err, fmt.Sprintf("the upload of %s with %d bytes", in.Name, len(data)))
			}
			facts := map[string]any{"token": token, "filename": in.Name, "filesize": len(data)}
			text := fmt.Sprintf("Uploaded %s, %d bytes.\n\n- token: %s\n", in.Name, len(data), token)
			id, _, _ := strings.Cut(token, ".")
			if a, err := readAttachment(ctx, s, id); err == nil {
				facts["id"], facts["filename"], facts["filesize"], facts["content_type"] = a.ID, a.Name, a.Size, a.Type
				text += fmt.Sprintf("- stored as: %s [%d], %d bytes, %s\n", a.Name, a.ID, a.Size, a.Type)
			}
			return s.answer(text, facts)
		})
}

// bytes are those of the file.
func (in *uploadInput) bytes() ([]byte, error) {
	switch {
	case in.Content == nil && in.Base64 == nil, in.Content != nil && in.Base64 != nil:
		return nil, toolpost.Retry("Give either content for text, or content_base64 for any other file.")
	case in.Content != nil:
		return []byte(*in.Content), nil
	}
	text := strings.Join(strings.Fields(*in.Base64), "")
	if _, rest, ok := strings.Cut(text, ";base64,"); ok {
		text = rest
	}
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return nil, toolpost.Retry("content_base64 is not valid base64: %v. To upload text, give it as content.", err)
	}
	return data, nil
}

// uploadRaw uploads a file, of the one type that Redmine takes, and returns its token.
func uploadRaw(ctx context.Context, c *client, query url.Values, data []byte) (token string, err error) {
	const path = "/uploads.json"
	raw, err := c.exchange(ctx, http.MethodPost, path, query, "application/octet-stream", data)
	if err != nil {
		return "", err
	}
	var answer struct {
		Upload struct {
			Token string `json:"token"`
		} `json:"upload"`
	}
	err = c.decode(path, raw, &answer)
	return answer.Upload.Token, err
}

type updateAttachmentInput struct {
	attachmentID
	Name        string  `json:"filename,omitempty" jsonschema:"maxLength=255,description=New file name"`
	Description *string `json:"description,omitempty" jsonschema:"maxLength=255,description=New description. Empty clears it"`
	Type        string  `json:"content_type,omitempty" jsonschema:"maxLength=255,description=New media type"`
}

func updateAttachment(s *Server) entry {
	return tool(s, "update_attachment", "Change a file's details", "Change the name, the description or the type of a file, not what is in it.", changes,
		func(ctx context.Context, in updateAttachmentInput) (*toolpost.Result, error) {
			a, err := readAttachment(ctx, s, in.ID)
			if err != nil {
				return nil, err
			}
			w := newWrite(ctx, s, 0)
			w.text("filename", in.Name)
			w.text("content_type", in.Type)
			given(w, "description", in.Description)
			return fileKind().change(w, a.ID, a)
		})
}

type deleteAttachmentInput struct {
	attachmentID
	Confirm bool `json:"confirm,omitempty" jsonschema:"description=Whether to delete it. Without this the answer only shows what would go"`
}

func deleteAttachment(s *Server) entry {
	return tool(s, "delete_attachment", "Delete a file", "Delete a file from the issue, wiki page, news or project that has it, for good.\nWithout confirm the answer shows which one, and nothing is deleted.", removes,
		func(ctx context.Context, in deleteAttachmentInput) (*toolpost.Result, error) {
			a, err := readAttachment(ctx, s, in.ID)
			if err != nil {
				return nil, err
			}
			k := fileKind()
			return k.remove(ctx, s, &removal{
				at: k.at(a.ID), what: k.name(a), id: a.ID, confirmed: in.Confirm,
				would: "This would go:\n\n" + a.text(), facts: map[string]any{"attachment": a},
			})
		})
}
