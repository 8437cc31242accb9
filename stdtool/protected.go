package stdtool

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"unicode"

	"github.com/toolpost/toolpost"
)

// protectedNames are the files and directories that make other programs run
// commands without being asked to: when somebody opens or enters a folder, starts
// an agent or a shell, commits, or calls a package manager. The writing tools do
// not change them, in any directory, nor what is in them. What somebody has to
// run by name, such as a script or a Makefile, is not among them. An entry with a
// slash is a name in a directory of that name.
const protectedNames = `
.git .hg .jj .svn
.husky .githooks .pre-commit-config.yaml .lefthook lefthook.yml .lefthook.yml
lefthook.yaml .lefthook.yaml lefthook.toml .lefthook.toml lefthook.json .lefthook.json
toolpost.json .mcp.json
.claude .claude.json .cursor .gemini .codex .windsurf .continue .zed .cline .clinerules
.copilot .github/hooks .roo .kilocode .kiro .amazonq .augment .trae .junie .qwen .factory .goose .amp .opencode
opencode.json opencode.jsonc crush.json .crush.json .aider.conf.yml
.vscode .vs .idea .fleet .devcontainer .devcontainer.json
.exrc .vimrc .vim .nvimrc .nvim.lua .lvimrc .lazy.lua .emacs .emacs.d .dir-locals.el
.gdbinit .lldbinit .Rprofile
.envrc .direnv mise.toml .mise.toml .mise
.npmrc .yarnrc .yarnrc.yml .yarn .pnpmfile.cjs .cargo
.config .local .ssh .gitconfig .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile
.zshrc .zshenv .zprofile .zlogin .zlogout .cshrc .tcshrc .kshrc .login .inputrc .tmux.conf .xprofile .xinitrc .xsession
`

// protectedEndings are those of files by any name: workspaces of VS Code,
// approvals of configuration files, pinned definitions of tools, and tokens.
var protectedEndings = []string{".code-workspace", ".toolpost-trust", ".toolpost-pins", ".toolpost-secret", "toolpost.lock"}

// checkChangeable rejects a path that is protected, or is below one.
func checkChangeable(given, name string) error {
	for end := 0; end < len(name); {
		next := strings.IndexByte(name[end+1:], '/') // a name has at least one character
		if end += next + 1; next < 0 {
			end = len(name)
		}
		switch protected, ok := protection(name[:end]); {
		case ok && protected == ".git":
			return toolpost.Denied.Errorf("%q belongs to git: only git changes its own files", given)
		case ok:
			return toolpost.Denied.Errorf("%q can make other programs run commands (%s): only the user may change it. Tell the user what to write there", given, protected)
		}
	}
	return nil
}

// protection returns the protected name that the last part of a path can lead to.
func protection(at string) (name string, ok bool) {
	dir, last := path.Split(at)
	above := plainName(path.Base(dir))
	last = plainName(last)
	for name := range strings.FieldsSeq(protectedNames) {
		parent, child, nested := strings.Cut(name, "/")
		if nested && isName(above, parent) && isName(last, child) || !nested && isName(last, name) {
			return name, true
		}
	}
	for _, ending := range protectedEndings {
		if n := len(last) - len(ending); n >= 0 && strings.EqualFold(last[n:], ending) {
			return last, true
		}
	}
	return "", false
}

// plainName returns a part of a path without what some file systems ignore: dots
// and spaces at the end, some characters, and what follows a colon.
func plainName(part string) string {
	part, _, _ = strings.Cut(part, ":")
	part = strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector) || unicode.IsControl(r) {
			return -1
		}
		return r
	}, part)
	return strings.TrimRight(part, ". ")
}

// isName reports whether some file system takes part for name.
func isName(part, name string) bool { return strings.EqualFold(part, name) || isShortName(part, name) }

// isShortName reports whether short can be the name that Windows gives to long
// besides: CLAUDE~1 or CL1A2B~1 for .claude.
func isShortName(short, long string) bool {
	base, number, ok := strings.Cut(short, "~")
	number, _, _ = strings.Cut(number, ".")
	if !ok || base == "" || number == "" || strings.Trim(number, "0123456789") != "" {
		return false
	}
	long, _, _ = strings.Cut(strings.TrimLeft(long, "."), ".")
	long = strings.NewReplacer("-", "", "_", "").Replace(long)
	base = strings.NewReplacer("-", "", "_", "").Replace(base)
	if len(base) == 6 && strings.Trim(strings.ToLower(base[2:]), "0123456789abcdef") == "" && strings.EqualFold(base[:2], long[:min(2, len(long))]) {
		return true
	}
	return strings.EqualFold(base, long[:min(6, len(long))])
}

// errProtected ends a walk at the first protected name.
var errProtected = errors.New("protected")

// checkContent refuses to move a directory if something in it is protected where it
// is, or would be where it goes: it would take effect there.
func (f *Workspace) checkContent(ctx context.Context, from, to string) error {
	found := ""
	err := fs.WalkDir(f.root.FS(), from, func(at string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for _, name := range []string{at, to + at[len(from):]} {
			if _, ok := protection(name); ok {
				found = name
				return errProtected
			}
		}
		return nil // what cannot be read stays as it is
	})
	if errors.Is(err, errProtected) {
		return toolpost.Denied.Errorf("%q cannot be moved to %q: %q can make other programs run commands or belongs to git. Ask the user to move it", from, to, found)
	}
	return err
}
