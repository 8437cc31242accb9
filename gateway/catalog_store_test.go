package gateway

import (
	"log/slog"
	"os"
	"testing"
)

// An entry whose write failed is written by the next round.
func TestStoreAgain(t *testing.T) {
	dir := t.TempDir()
	r := newMemory(&Catalog{Dir: dir}, slog.New(slog.DiscardHandler))
	if r.folder == nil {
		t.Fatal("no folder")
	}
	r.entries["a"] = &memoryEntry{print: "p", tried: true, dirty: true}
	r.renamed = true
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if r.store() {
		t.Error("a folder that does not exist is written")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if !r.store() || r.folder.Read(r.config, "a") == nil || r.folder.Read(r.config, allServers) == nil {
		t.Error("the entries are not written again")
	}
}
