package redmine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
)

func fileTools(s *Toolset) []entry {
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

func (in *attachmentID) find(ctx context.Context, s *Toolset) (*attachment, error) {
	return fileEndpoint().find(ctx, s, "a file", in.ID, "")
}

func showAttachment(s *Toolset) entry {
	return showTool[attachmentID, attachment](s, "show_attachment", "Show a file's details", "Show the name, size, type and author of a file.")
}

// fileEndpoint is how the facts of files are read, written and compared.
func fileEndpoint() endpoint[attachment] {
	return endpoint[attachment]{
		collection: collection{key: "attachment", path: "/attachments", why: "Redmine removes characters that file names cannot contain"},
		name:       func(a *attachment) string { return fmt.Sprintf("file %s [%d]", a.Name, a.ID) },
	}
}

type uploadInput struct {
	Name    string  `json:"filename" jsonschema:"minLength=1"`
	Content *string `json:"content,omitempty" jsonschema:"maxLength=34000000" desc:"For text"`
	Base64  *string `json:"content_base64,omitempty" jsonschema:"maxLength=46000000" desc:"For other than text"`
	Type    string  `json:"content_type,omitempty" desc:"Such as text/plain"`
}

func uploadFile(s *Toolset) entry {
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
			if a, err := (&attachmentID{fileID(token)}).find(ctx, s); err == nil {
				facts["id"], facts["filename"], facts["filesize"], facts["content_type"] = a.ID, a.Name, a.Size, a.Type
				text += fmt.Sprintf("- stored as: %s [%d], %d bytes, %s\n", a.Name, a.ID, a.Size, a.Type)
			}
			return s.answer(text, facts)
		})
}

// fileID returns the id of the file that an upload has become.
func fileID(token string) string {
	id, _, _ := strings.Cut(token, ".")
	return id
}

// bytes are those of the file.
func (in *uploadInput) bytes() ([]byte, error) {
	switch {
	case in.Content == nil && in.Base64 == nil, in.Content != nil && in.Base64 != nil:
		return nil, toolpost.Retry.Errorf("Give either content for text, or content_base64 for any other file.")
	case in.Content != nil:
		return []byte(*in.Content), nil
	}
	text := strings.Join(strings.Fields(*in.Base64), "")
	if _, rest, ok := strings.Cut(text, ";base64,"); ok {
		text = rest
	}
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if err != nil {
		return nil, toolpost.Retry.Errorf("content_base64 is not valid base64: %v. To upload text, give it as content.", err)
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
	Name        string  `json:"filename,omitempty" fill:"plain"`
	Description *string `json:"description,omitempty" jsonschema:"maxLength=255" desc:"Empty clears it"`
	Type        string  `json:"content_type,omitempty" fill:"plain"`
}

func updateAttachment(s *Toolset) entry {
	return changeTool(s, fileEndpoint, "update_attachment", "Change a file's details", "Change the name, description or type of a file.",
		func(w *write, in *updateAttachmentInput, _ *attachment) { w.fill(in) })
}

type deleteAttachmentInput struct {
	attachmentID
	confirmation
}

func deleteAttachment(s *Toolset) entry {
	return deleteTool(s, fileEndpoint, "delete_attachment", "Delete a file", "Delete a file of an issue, wiki page, news or project.",
		func(context.Context, *deleteAttachmentInput, *attachment, *removal) error { return nil })
}

// A projectFile is a file of a project or of one of its versions.
type projectFile struct {
	attachment
	Version   *idName `json:"version,omitempty" row:"version %s"`
	Downloads int     `json:"downloads" row:"%s downloads,always"`
	Digest    string  `json:"digest,omitempty"`
}

type listFilesInput struct {
	projectID
	rowSpan
}

func listFiles(s *Toolset) entry {
	return listTool(s, "list_files", "List project files", "List the files of a project and its versions.", "files", "files",
		func(ctx context.Context, in listFilesInput, p idName) (*listing, error) {
			all, err := projectFiles(ctx, s, p)
			l := wholeList(all, in.rowSpan)
			l.facts = map[string]any{"project": p}
			return l, err
		})
}

// projectFiles are all files of a project. Redmine has no pages of this list.
func projectFiles(ctx context.Context, s *Toolset, p idName) ([]projectFile, error) {
	var answer struct {
		Files []projectFile `json:"files"`
	}
	err := s.client.get(ctx, fmt.Sprintf("/projects/%d/files.json", p.ID), nil, &answer)
	return answer.Files, explain(err, "the files of project "+p.Name)
}

type addFileInput struct {
	projectID
	Token       string `json:"token" jsonschema:"minLength=1" desc:"From upload file"`
	Name        string `json:"filename,omitempty"`
	Description string `json:"description,omitempty" jsonschema:"maxLength=255"`
	Version     string `json:"version_id,omitempty" desc:"Name or id"`
}

func addFile(s *Toolset) entry {
	return projectTool(s, "add_file", "Add a project file", "Add an uploaded file to a project or one of its versions.", adds,
		func(ctx context.Context, in addFileInput, p idName) (*toolpost.Result, error) {
			set := map[string]any{"token": in.Token, "filename": in.Name, "description": in.Description}
			if in.Version != "" {
				var err error
				if set["version_id"], err = ownVersion(ctx, s, p, in.Version); err != nil {
					return nil, err
				}
			}
			err := s.client.send(ctx, http.MethodPost, fmt.Sprintf("/projects/%d/files.json", p.ID), map[string]any{"file": set}, nil)
			if code := status(err); code == http.StatusBadRequest || code == http.StatusNotFound {
				return nil, toolpost.Retry.Errorf("Redmine does not take the token %q: a token can be used once, exactly as the upload returned it. Upload the file again.", in.Token)
			}
			if err != nil {
				return nil, explain(err, "the file in project "+p.Name)
			}
			now, err := projectFiles(ctx, s, p)
			if err != nil {
				return s.unread("Added the file to project "+p.Name, err, map[string]any{"done": true})
			}
			for i := range now {
				if fmt.Sprint(now[i].ID) == fileID(in.Token) {
					return s.answer(fmt.Sprintf("Added to project %s:\n%s\n", p.Name, "- "+lineOf(&now[i])), map[string]any{"file": now[i]})
				}
			}
			return nil, toolpost.Failed.Errorf("Redmine accepted the request, but project %s has no new file.", p.Name)
		})
}

// ownVersion finds a version of a project. Redmine fails on one that another
// project shares with it.
func ownVersion(ctx context.Context, s *Toolset, p idName, text string) (int, error) {
	v, err := s.find(ctx, versions(p.ID), text)
	if err != nil {
		return 0, err
	}
	full, err := versionEndpoint().read(ctx, s, v.ID, "")
	if err != nil {
		return 0, err
	}
	if owner := full.Project; owner.ID != p.ID {
		return 0, toolpost.Retry.Errorf("Version %s belongs to project %s, which shares it with %s. Add the file there, or leave the version out.", v, owner, p.Name)
	}
	return v.ID, nil
}

// What is shown of files, in bytes.
const (
	longestFile  = 32 << 20
	longestImage = 700 << 10 // under 1 MiB in base64, which clients take
	usualText    = 50_000
	maxText      = 500_000
)

type downloadInput struct {
	attachmentID
	Offset int64 `json:"offset,omitempty" jsonschema:"minimum=0" desc:"Bytes to skip"`
	Limit  int64 `json:"limit,omitempty" jsonschema:"minimum=1,maximum=500000,default=50000"`
}

// A downloadedFile is a file with what is in it.
type downloadedFile struct {
	*attachment
	Offset int64  `json:"offset,omitempty"`
	Next   int64  `json:"next_offset,omitempty"` // if there is more
	Text   string `json:"text,omitempty"`
	Image  string `json:"image,omitempty"` // its media type; it is beside this
}

func downloadAttachment(s *Toolset) entry {
	return tool(s, "download_attachment", "Read a file", "Read a file: text in parts, images up to 700 KB.", reads,
		func(ctx context.Context, in downloadInput) (*toolpost.Result, error) {
			a, err := in.find(ctx, s)
			if err != nil {
				return nil, err
			}
			if a.Size > longestFile {
				return nil, toolpost.Failed.Errorf("File %s [%d] has %d bytes; only files of at most %d bytes can be read. The user can open %s.", a.Name, a.ID, a.Size, longestFile, a.URL)
			}
			// Not from content_url: that is the host which Redmine believes to have.
			data, err := s.client.read(ctx, fmt.Sprintf("/attachments/download/%d", a.ID), nil)
			if err != nil {
				return nil, explain(err, fmt.Sprintf("what is in file %s [%d]", a.Name, a.ID))
			}
			if int64(len(data)) != int64(a.Size) {
				return nil, toolpost.Failed.Errorf("Redmine returned %d bytes for file %s [%d], which should have %d: the file was damaged after its upload. Tell the user.", len(data), a.Name, a.ID, a.Size)
			}
			return answerFile(s, a, data, in.Offset, in.Limit)
		})
}

// answerFile answers with what is in a file. What kind it is its bytes say, and
// not its name.
func answerFile(s *Toolset, a *attachment, data []byte, offset, limit int64) (*toolpost.Result, error) {
	kind := http.DetectContentType(data)
	image := slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, kind)
	switch {
	case image && len(data) <= longestImage:
		result, err := s.answer(textOf(a), downloadedFile{attachment: a, Image: kind})
		if err != nil {
			return nil, err
		}
		parts := append(result.Parts(), toolpost.Part{Type: "image", Data: data, MIMEType: kind})
		return result.WithContent(parts, result.Structured())
	case image:
		return nil, toolpost.Failed.Errorf("File %s [%d] is an image of %d bytes; only images of at most %d bytes can be shown. The user can open %s.", a.Name, a.ID, len(data), longestImage, a.URL)
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return nil, toolpost.Failed.Errorf("File %s [%d] is neither text in UTF-8 nor an image: %d bytes of %s. The user can open %s.", a.Name, a.ID, len(data), cmp.Or(a.Type, kind), a.URL)
	case offset > 0 && offset >= int64(len(data)):
		return nil, toolpost.Retry.Errorf("File %s [%d] has %d bytes: offset %d is past its end. Give a smaller offset.", a.Name, a.ID, len(data), offset)
	}
	from, to := piece(data, offset, min(cmp.Or(limit, usualText), maxText))
	d := downloadedFile{attachment: a, Offset: from, Text: normalizeNewlines(string(data[from:to]))}
	text := textOf(a)
	if from > 0 || to < int64(a.Size) {
		text += fmt.Sprintf("- shown: bytes %d to %d", from, to)
		if to < int64(a.Size) {
			d.Next = to
			text += fmt.Sprintf("; call again with offset %d for more", to)
		}
		text += "\n"
	}
	return s.answer(text+longText(d.Text).lines(), d)
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

type attachment struct {
	ID          int       `json:"id"`
	Name        string    `json:"filename" set:"filename"`
	Size        byteCount `json:"filesize" text:"size,always" row:"%s,always"`
	Type        string    `json:"content_type" text:"type" row:"%s" set:"content_type"`
	Author      idName    `json:"author" text:"author" row:"%n"`
	CreatedOn   timestamp `json:"created_on" text:"created" row:"%s"`
	Description string    `json:"description,omitempty" text:"description" row:"%s" set:"description"`
	URL         string    `json:"content_url,omitempty"`
}

// A byteCount is the size of a file.
type byteCount int64

func (n byteCount) String() string { return fmt.Sprintf("%d bytes", int64(n)) }

func (a *attachment) String() string { return idName{ID: a.ID, Name: a.Name}.String() }

func (a *attachment) title() string { return fmt.Sprintf("File %s [%d]", a.Name, a.ID) }
