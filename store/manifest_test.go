package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"strings"
	"testing"
)

// Tamper changes a byte of an entry of a manifest, and its checksum.
func Tamper(entries []byte, at int, change byte) {
	from := at / manifestEntrySize * manifestEntrySize
	if from+manifestEntrySize > len(entries) || at-from >= manifestEntrySize-8 {
		return
	}
	entries[at] ^= change
	e := entries[from : from+manifestEntrySize]
	binary.LittleEndian.PutUint32(e[manifestEntrySize-4:], crc32.ChecksumIEEE(e[:manifestEntrySize-4]))
}

func keepSmall(t *testing.T, s Store, name string) {
	t.Helper()
	w, err := s.Create(t.Context(), name)
	if err == nil {
		_, err = w.Write([]byte(name))
	}
	if err == nil {
		_, err = w.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The manifest is written anew without what is gone, which other processes notice.
func TestManifestCompact(t *testing.T) {
	folder := t.TempDir()
	one, err := Dir(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	two, err := Dir(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		one.(*dir).manifest.compactAt = 10 * manifestEntrySize
		s, name := []Store{one, two}[i%2], fmt.Sprint(i)
		keepSmall(t, s, name)
		if i >= 4 {
			if err := []Store{two, one}[i%2].Remove(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
	}
	info, err := os.Stat(folder + "/" + manifestName)
	if err != nil || info.Size() > 20*manifestEntrySize {
		t.Errorf("the manifest has %d bytes, error %v", info.Size(), err)
	}
	three, err := Dir(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Store{one, two, three} {
		var names []string
		for info, err := range s.List(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, info.Name)
		}
		if got := strings.Join(names, " "); got != "0 1 2 3" {
			t.Errorf("%s are left", got)
		}
	}
}

// Blobs beyond those that the memory has room for get files.
func TestManifestFull(t *testing.T) {
	folder := t.TempDir()
	s, err := Dir(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	keepSmall(t, s, "before")
	m := &s.(*dir).manifest
	for i := range uint64(maxLocations) {
		var key blobKey
		binary.LittleEndian.PutUint64(key[:], i)
		m.take(key, location{length: 1})
	}
	keepSmall(t, s, "full")
	for _, name := range []string{"before", "full"} {
		b, err := s.Open(t.Context(), name)
		if err == nil {
			err = b.Close()
		}
		if err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Stat(folder + "/" + file("full")); err != nil {
		t.Error(err)
	}
}

// TestReadWhileWrittenAnew has manifests read for the first time while another process makes
// the file shorter: a blob that both files have is found.
func TestReadWhileWrittenAnew(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := root.WriteFile(segmentName(1), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var writer manifest
	writer.reset()
	stays, written := keyOf("stays"), make(chan error, 1)
	rewrite := func() error {
		return writer.change(root, func() error {
			for i := range 100 { // of a segment that is not there
				if err := writer.add(keyOf(fmt.Sprint(i)), location{segment: 2, length: 1}); err != nil {
					return err
				}
			}
			writer.compactAt = 0
			return writer.add(stays, location{segment: 1, length: 1})
		})
	}
	if err := rewrite(); err != nil {
		t.Fatal(err)
	}
	go func() {
		var err error
		for range 150 {
			if err = rewrite(); err != nil {
				break
			}
		}
		written <- err
	}()
	for {
		var reader manifest
		reader.reset()
		if _, ok, err := reader.lookup(root, stays); err != nil || !ok {
			t.Fatalf("found: %v, error: %v", ok, err)
		}
		reader.reset() // closes the file
		select {
		case err := <-written:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
	}
}
