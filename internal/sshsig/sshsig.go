// Package sshsig checks signatures that "ssh-keygen -Y sign" makes, so that users can
// check the same signature without this program.
package sshsig

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

const keyType = "ssh-ed25519"

// A signature is what the armor of an SSH signature contains.
type signature struct {
	key                  []byte // the public key, as SSH writes it
	namespace            string
	reserved, hash, blob []byte
}

// Verify checks that one of the signers signed the message for the namespace, as
// "ssh-keygen -Y sign -n NAMESPACE" does with a key of type Ed25519. The signers have the
// form of the file that "ssh-keygen -Y verify -f" reads: in each line a name, the type of
// the key and the key. Lines with options or other types are not used.
func Verify(message, armored []byte, namespace string, signers []byte) error {
	s, err := parse(armored)
	if err != nil {
		return fmt.Errorf("read the signature: %w", err)
	}
	if s.namespace != namespace {
		return fmt.Errorf("the signature is for %q, not for %q", s.namespace, namespace)
	}
	public, err := allowedKey(s.key, signers)
	if err != nil {
		return err
	}
	if string(s.hash) != "sha512" {
		return fmt.Errorf("the signature uses the hash %q; want sha512", s.hash)
	}
	sum := sha512.Sum512(message)
	signed := []byte("SSHSIG")
	for _, field := range [][]byte{[]byte(s.namespace), s.reserved, s.hash, sum[:]} {
		signed = append(binary.BigEndian.AppendUint32(signed, uint32(len(field))), field...)
	}
	kind, raw, err := pair(s.blob)
	if err != nil || string(kind) != keyType || !ed25519.Verify(public, signed, raw) {
		return errors.New("the signature is not one of this content")
	}
	return nil
}

// parse reads an armored signature.
func parse(armored []byte) (*signature, error) {
	block, _ := pem.Decode(armored)
	if block == nil || block.Type != "SSH SIGNATURE" {
		return nil, errors.New("it is not an SSH signature")
	}
	rest, ok := bytes.CutPrefix(block.Bytes, []byte("SSHSIG\x00\x00\x00\x01"))
	if !ok {
		return nil, errors.New("it is not version 1 of an SSH signature")
	}
	var fields [5][]byte
	for i := range fields {
		var err error
		if fields[i], rest, err = field(rest); err != nil {
			return nil, err
		}
	}
	if len(rest) > 0 {
		return nil, errors.New("it is too long")
	}
	return &signature{fields[0], string(fields[1]), fields[2], fields[3], fields[4]}, nil
}

// allowedKey returns a public key if it is one of the signers'.
func allowedKey(key []byte, signers []byte) (ed25519.PublicKey, error) {
	for line := range strings.Lines(string(signers)) {
		words := strings.Fields(line)
		if len(words) < 3 || strings.HasPrefix(words[0], "#") || words[1] != keyType {
			continue
		}
		allowed, err := base64.StdEncoding.DecodeString(words[2])
		if err != nil || !bytes.Equal(allowed, key) {
			continue
		}
		kind, public, err := pair(allowed)
		if err != nil || string(kind) != keyType || len(public) != ed25519.PublicKeySize {
			return nil, fmt.Errorf("the key of %s is not a key of type %s", words[0], keyType)
		}
		return public, nil
	}
	return nil, errors.New("the signature is by none of the known signers")
}

// pair returns the two fields that data consists of.
func pair(data []byte) (first, second []byte, err error) {
	first, rest, err := field(data)
	if err != nil {
		return nil, nil, err
	}
	second, rest, err = field(rest)
	if err == nil && len(rest) > 0 {
		err = errors.New("it is too long")
	}
	return first, second, err
}

// field returns the first field of data, which begins with its length, and the rest.
func field(data []byte) (first, rest []byte, err error) {
	if len(data) < 4 {
		return nil, nil, errors.New("it is cut off")
	}
	n := binary.BigEndian.Uint32(data)
	if uint64(n) > uint64(len(data)-4) {
		return nil, nil, errors.New("it is cut off")
	}
	return data[4 : 4+n], data[4+n:], nil
}
