package upgrade

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/internal/sshsig"
)

// namespace is for what the checksums of a release are signed.
const namespace = "toolpost-release"

// What is downloaded has at most so many bytes.
const (
	maxSums    = 1 << 20
	maxArchive = 256 << 20
	maxProgram = 512 << 20
)

// A release is one whose signature was checked.
type release struct {
	version version
	archive string // the name of this platform's archive
	digest  string // its SHA-256
}

// newest returns the newest release: what its signed checksums name.
func (u *upgrade) newest(ctx context.Context) (*release, error) {
	sums, err := u.get(ctx, "latest/download/checksums.txt", maxSums)
	if err != nil {
		return nil, err
	}
	signature, err := u.get(ctx, "latest/download/checksums.txt.sig", maxSums)
	if err != nil {
		return nil, err
	}
	if err := sshsig.Verify(sums, signature, namespace, u.signers); err != nil {
		return nil, fmt.Errorf("check the signature of the checksums: %w", err)
	}
	ending := "_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
	if runtime.GOOS == "windows" {
		ending = strings.TrimSuffix(ending, ".tar.gz") + ".zip"
	}
	for line := range strings.Lines(string(sums)) {
		digest, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		rest, found := strings.CutPrefix(name, "toolpost_")
		number, isArchive := strings.CutSuffix(rest, ending)
		if !ok || !found || !isArchive {
			continue
		}
		v, err := parseVersion("v" + number)
		if err != nil {
			return nil, err
		}
		return &release{v, name, digest}, nil
	}
	return nil, fmt.Errorf("it has no archive for %s on %s", runtime.GOOS, runtime.GOARCH)
}

// download returns the program of a release.
func (u *upgrade) download(ctx context.Context, r *release) ([]byte, error) {
	data, err := u.get(ctx, "download/v"+r.version.String()+"/"+r.archive, maxArchive)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != r.digest {
		return nil, fmt.Errorf("%s is not the file that was signed: its checksum is another one", r.archive)
	}
	if strings.HasSuffix(r.archive, ".zip") {
		return fromZip(data)
	}
	return fromTar(data)
}

func fromZip(data []byte) ([]byte, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	f, err := z.Open("toolpost.exe")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readProgram(f)
}

// readProgram reads a whole program.
func readProgram(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxProgram+1))
	if err == nil && (len(data) == 0 || len(data) > maxProgram) {
		err = fmt.Errorf("the program in the archive has %d bytes; want 1 to %d", len(data), maxProgram)
	}
	return data, err
}

func fromTar(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return nil, errors.New("the archive has no program")
		}
		if err != nil {
			return nil, err
		}
		if h.Name == "toolpost" && h.Typeflag == tar.TypeReg {
			return readProgram(r)
		}
	}
}

// A version is that of a release: its numbers, and the stage of a pre-release.
type version struct {
	numbers [3]int
	stage   string // alpha, beta or rc, which sort as they follow each other
	try     int    // of the stage
}

// parseVersion reads a version such as v1.2.3 or v1.2.3-rc.1.
func parseVersion(text string) (version, error) {
	wrong := fmt.Errorf("the version %q is not like v1.2.3", text)
	number, ok := strings.CutPrefix(text, "v")
	if !ok {
		return version{}, wrong
	}
	var v version
	number, stage, hasStage := strings.Cut(number, "-")
	if hasStage {
		name, try, _ := strings.Cut(stage, ".")
		n, err := strconv.Atoi(try)
		if err != nil || !slices.Contains([]string{"alpha", "beta", "rc"}, name) {
			return version{}, wrong
		}
		v.stage, v.try = name, n
	}
	parts := strings.Split(number, ".")
	if len(parts) != len(v.numbers) {
		return version{}, wrong
	}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return version{}, wrong
		}
		v.numbers[i] = n
	}
	return v, nil
}

// String returns the version without the v.
func (v version) String() string {
	s := fmt.Sprintf("%d.%d.%d", v.numbers[0], v.numbers[1], v.numbers[2])
	if v.stage != "" {
		s += fmt.Sprintf("-%s.%d", v.stage, v.try)
	}
	return s
}

// less reports whether v is older than w.
func (v version) less(w version) bool {
	order := func(v version) string { return cmp.Or(v.stage, "release") } // sorts after rc
	return cmp.Or(slices.Compare(v.numbers[:], w.numbers[:]), strings.Compare(order(v), order(w)), cmp.Compare(v.try, w.try)) < 0
}
