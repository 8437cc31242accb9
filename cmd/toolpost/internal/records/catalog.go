package records

import (
	"fmt"
	"io"

	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/access/owner"
)

// clearCatalog removes what servers listed.
func clearCatalog(stderr io.Writer) error {
	dir, err := owner.CatalogDir()
	if err != nil {
		return err
	}
	servers, size, err := (&gateway.Catalog{Dir: dir}).Clear()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stderr, "removed the lists of %d servers, %d bytes\n", servers, size)
	return err
}
