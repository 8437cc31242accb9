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
	ID string `json:"id"`
}

func (in *attachmentID) find(ctx context.Context, s *Server) (*attachment, error) {
	n, err := id("a file", in.ID)
	if err != nil {
		return nil, err
	}
	return fileKind().read(ctx, s, n, "")
}

func showAttachment(s *Server) entry {
	return showTool[attachmentID](s, fileKind, "show_attachment", "Show a file's details", "Show the name, size, type and author of a file.")
}

// fileKind is how the facts of files are read, written and compared.
func fileKind() kind[attachment] {
	return kind[attachment]{
		key: "attachment", path: "/attachments", why: "Redmine removes characters that file names cannot contain",
		name: func(a *attachment) string { return fmt.Sprintf("file %s [%d]", a.Name, a.ID) },
	}
}

type uploadInput struct {
	Name    string  `json:"filename" jsonschema:"minLength=1"`
	Content *string `json:"content,omitempty" desc:"For text"`
	Base64  *string `json:"content_base64,omitempty" desc:"For other than text"`
	Type    string  `json:"content_type,omitempty" desc:"Such as text/plain"`
}

func uploadFile(s *Server) entry {
	return tool(s, "upload_file", "Upload a file", "Upload a file. The answer has a token for one use.\nGive it to the tool that writes the issue, wiki page, news or project file.", adds,
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
			if a, err := (&attachmentID{id}).find(ctx, s); err == nil {
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
	Name        string  `json:"filename,omitempty" fill:"text"`
	Description *string `json:"description,omitempty" jsonschema:"maxLength=255" desc:"Empty clears it"`
	Type        string  `json:"content_type,omitempty" fill:"text"`
}

func updateAttachment(s *Server) entry {
	return changeTool(s, fileKind, "update_attachment", "Change a file's details", "Change the name, description or type of a file.",
		func(w *write, in *updateAttachmentInput, _ *attachment) { w.fill(in) })
}

type deleteAttachmentInput struct {
	attachmentID
	confirmation
}

func deleteAttachment(s *Server) entry {
	return deleteTool(s, fileKind, "delete_attachment", "Delete a file", "Delete a file of an issue, wiki page, news or project.",
		func(context.Context, *deleteAttachmentInput, *attachment, *removal) error { return nil })
}
