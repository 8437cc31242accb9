package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"time"
)

// A file is one in a package.
type file struct {
	name string
	mode fs.FileMode
	data []byte
}

// writeArchives writes the archive of each platform: the program, its licence, the README
// and, where there is man, the manual pages.
func writeArchives(r *release) error {
	texts, err := r.texts()
	if err != nil {
		return err
	}
	pages, err := r.manual()
	if err != nil {
		return err
	}
	for _, p := range r.programs {
		name, pack := r.archive(p)
		files := append([]file{{p.name(), 0o755, p.data}}, texts...)
		if p.goos != "windows" {
			files = append(files, pages...)
		}
		data, err := pack(files, r.time)
		if err != nil {
			return err
		}
		if err := r.put(name, data); err != nil {
			return err
		}
	}
	return nil
}

// archive returns the name of a platform's archive, and the function that makes it.
func (r *release) archive(p program) (string, func([]file, time.Time) ([]byte, error)) {
	if p.goos == "windows" {
		return r.base(p) + ".zip", zipFiles
	}
	return r.base(p) + ".tar.gz", tarFiles
}

// base returns how the names of a platform's files begin.
func (r *release) base(p program) string {
	return "toolpost_" + r.number() + "_" + p.goos + "_" + p.goarch
}

// tarFiles returns a compressed tar archive. All files in it belong to root, have the
// given time, and are in the given order.
func tarFiles(files []file, modified time.Time) ([]byte, error) {
	var b bytes.Buffer
	compressed := gzip.NewWriter(&b)
	archive := tar.NewWriter(compressed)
	for _, f := range files {
		header := &tar.Header{Name: f.name, Mode: int64(f.mode.Perm()), Size: int64(len(f.data)), ModTime: modified, Format: tar.FormatUSTAR}
		if f.mode.IsDir() {
			header.Typeflag = tar.TypeDir
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(f.data); err != nil {
			return nil, err
		}
	}
	err := errors.Join(archive.Close(), compressed.Close())
	return b.Bytes(), err
}

// zipFiles returns a zip archive; all files in it have the given time.
func zipFiles(files []file, modified time.Time) ([]byte, error) {
	var b bytes.Buffer
	archive := zip.NewWriter(&b)
	for _, f := range files {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: modified}
		header.SetMode(f.mode)
		entry, err := archive.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := io.Copy(entry, bytes.NewReader(f.data)); err != nil {
			return nil, err
		}
	}
	err := archive.Close()
	return b.Bytes(), err
}
