package vault

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
)

// keySize is that of AES-256.
const keySize = 32

// NewKey returns a random key for [KeyVariable].
func NewKey() string {
	var key [keySize]byte
	_, _ = rand.Read(key[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(key[:])
}

// A sealedVault is a folder whose files are encrypted. The name of a secret is
// authenticated with its content, so that files cannot be exchanged.
type sealedVault struct {
	*folder
	aead cipher.AEAD
}

func openSealed(dir, why, key string) (Vault, error) {
	raw, err := parseKey(key)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(raw)
	if err != nil {
		return nil, fmt.Errorf("open the encrypted secrets: %w", err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("open the encrypted secrets: %w", err)
	}
	return &sealedVault{&folder{dir, why}, aead}, nil
}

// parseKey accepts 32 bytes in base64 or hexadecimal digits. A passphrase is
// refused: it could be guessed.
func parseKey(key string) ([]byte, error) {
	key = strings.TrimSpace(key)
	if key == "" {
		return nil, fmt.Errorf("open the encrypted secrets: %s is not set; set it to the key, or run \"toolpost secret key\" to get a new one", KeyVariable)
	}
	if raw, err := hex.DecodeString(key); err == nil && len(raw) == keySize {
		return raw, nil
	}
	forURLs := strings.NewReplacer("+", "-", "/", "_").Replace(strings.TrimRight(key, "="))
	if raw, err := base64.RawURLEncoding.DecodeString(forURLs); err == nil && len(raw) == keySize {
		return raw, nil
	}
	return nil, fmt.Errorf("open the encrypted secrets: %s is not a key of %d random bytes in base64; \"toolpost secret key\" prints a new one, a passphrase cannot be used", KeyVariable, keySize)
}

// version begins every file, so that files of another way to encrypt are recognized.
const version = "toolpost secret 1\n"

func additionalData(name string) []byte { return []byte(version + name) }

func (s *sealedVault) decrypt(name string, data []byte) ([]byte, error) {
	sealedText, isOurs := bytes.CutPrefix(data, []byte(version))
	if isOurs {
		if secret, err := s.aead.Open([]byte{}, nil, sealedText, additionalData(name)); err == nil {
			return secret, nil
		}
	}
	return nil, fmt.Errorf("the secret %q cannot be decrypted: %s has another key than the one it was kept with, or the file was changed; "+
		"if the key is lost, remove %s and set the secret again", name, KeyVariable, s.path(name))
}

// Get decrypts the file of a secret.
func (s *sealedVault) Get(name string) ([]byte, error) {
	data, err := s.folder.Get(name)
	if err != nil {
		return nil, err
	}
	return s.decrypt(name, data)
}

// Update decrypts a secret and encrypts what takes its place.
func (s *sealedVault) Update(ctx context.Context, name string, change func([]byte) ([]byte, error)) error {
	return s.folder.Update(ctx, name, func(data []byte) (secret []byte, err error) {
		if data != nil {
			if secret, err = s.decrypt(name, data); err != nil {
				return nil, err
			}
		}
		secret, err = change(secret)
		switch {
		case err != nil || secret == nil:
			return nil, err
		case len(secret) > longestSecret:
			return nil, errTooLong(secret)
		}
		return append([]byte(version), s.aead.Seal(nil, nil, secret, additionalData(name))...), nil
	})
}

// Place names the folder and where the key comes from.
func (s *sealedVault) Place() string {
	return "files of " + s.dir + ", encrypted with the key in " + KeyVariable + because(s.why)
}
