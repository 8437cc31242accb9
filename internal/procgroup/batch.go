package procgroup

import (
	"fmt"
	"path/filepath"
	"strings"
)

// isBatch reports whether Windows has cmd.exe run a file, as npx.cmd.
func isBatch(path string) bool {
	extension := strings.ToLower(filepath.Ext(strings.TrimRight(path, ". ")))
	return extension == ".cmd" || extension == ".bat"
}

// batchLine returns the command line with which cmd.exe runs a batch file. The usual
// quoting is for other programs: cmd.exe would expand %NAME%, and take what follows
// an & as another command. The file and the program that it calls with %* get the
// arguments as they are.
func batchLine(script string, args []string) (string, error) {
	if strings.ContainsAny(script, "\"%\r\n\x00") {
		return "", fmt.Errorf("cmd.exe cannot run %q: a batch file must not have a quote, a percent sign or a line end in its path", script)
	}
	var b strings.Builder
	// With extensions, which the quoting of a percent sign needs; without expansion of
	// !NAME!, and without the commands that the registry would have it run first.
	b.WriteString(`cmd.exe /e:ON /v:OFF /d /s /c ""` + script + `"`)
	for _, arg := range args {
		if strings.ContainsAny(arg, "\r\n\x00") {
			return "", fmt.Errorf("cmd.exe cannot pass %.100q to %s: an argument of a batch file must not have a line end; name the program that the file starts instead", arg, filepath.Base(script))
		}
		b.WriteByte(' ')
		quoteBatch(&b, arg)
	}
	b.WriteByte('"')
	return b.String(), nil
}

// isPlain reports whether cmd.exe and the parser of arguments take each character of
// an argument as it is.
func isPlain(arg string) bool {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789#$*+-./:?@\\_"
	return strings.Trim(arg, plain) == "" && arg != "" && !strings.HasSuffix(arg, `\`)
}

// quoteBatch writes an argument of a batch file in quotes, unless it is plain.
func quoteBatch(b *strings.Builder, arg string) {
	if isPlain(arg) {
		b.WriteString(arg)
		return
	}
	b.WriteByte('"')
	slashes := 0 // directly before
	for _, c := range []byte(arg) {
		switch c {
		case '"': // two quotes are one for the program, and leave cmd.exe within quotes
			b.WriteString(strings.Repeat(`\`, slashes) + `"`)
		case '%': // %cd:~,% is always empty, so that no %NAME% is left
			b.WriteString(`%%cd:~,`)
		}
		if slashes++; c != '\\' {
			slashes = 0
		}
		b.WriteByte(c)
	}
	b.WriteString(strings.Repeat(`\`, slashes) + `"`)
}
