package procgroup

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// quoteForBatch has cmd.exe run a batch file with arguments that are quoted for it.
func quoteForBatch(cmd *exec.Cmd) error {
	if !isBatch(cmd.Path) || cmd.Err != nil {
		return nil
	}
	script, err := filepath.Abs(cmd.Path)
	if err != nil {
		return err
	}
	line, err := batchLine(script, cmd.Args[1:])
	if err != nil {
		return err
	}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.CmdLine = line
	cmd.Path = filepath.Join(cmp.Or(os.Getenv("SystemRoot"), `C:\Windows`), "System32", "cmd.exe")
	return nil
}
