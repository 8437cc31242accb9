//go:build unix && !linux

package cli_test

func closing()         {}
func adoptAndClose()   {}
func adoptAndNeglect() {}
