package records

import (
	"fmt"
	"io"

	"github.com/toolpost/toolpost/internal/catalog"
)

// clearCatalog removes what servers listed.
func clearCatalog(stderr io.Writer) error {
	dir, err := catalog.Dir()
	if err != nil {
		return err
	}
	folder, err := catalog.Open(dir)
	if err != nil {
		return err
	}
	servers, size, err := folder.Clear()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stderr, "removed the lists of %d servers, %d bytes\n", servers, size)
	return err
}
