package wap

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
)

// digest is a running SHA-256.
type digest struct{ hash.Hash }

func newDigest() digest { return digest{sha256.New()} }

func (d digest) hex() string { return hex.EncodeToString(d.Sum(nil)) }
